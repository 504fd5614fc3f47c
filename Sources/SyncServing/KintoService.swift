public import SyncCore
import SyncJSON
public import SyncModels
public import SyncPorts
import Synchronization

/// A store that other clients sync with, by Kinto's HTTP API.
///
/// ```swift
/// let service = try await KintoService(store, schema: schema, bucket: "league", mode: .origin)
/// let response = await service.respond(to: ServiceRequest("GET", "/v1/buckets/league/collections/games/records"))
/// ```
///
/// Each declared type is a collection of one bucket. The timestamps of a collection strictly increase
/// in the order of the store's commits, whichever process makes them: what a client has seen is
/// never joined by an older change. They are kept in the store, and go on after a restart, and beside
/// other servers of the same store.
///
/// The service takes requests of any number of tasks. It starts no task and opens no socket: a
/// listener hands it requests, and is to bound them. Without `access`, every request may read and
/// write everything.
public struct KintoService: Sendable {
  /// Where a client's edit goes.
  public enum Mode: Sendable {
    /// The store is the truth: an edit is accepted at once, and nothing waits for a push.
    case origin
    /// The store mirrors a remote of its own: an edit becomes a pending edit of the store, visible at
    /// once, and the store's next sync pushes it. Take the engine's `edits`.
    case gateway(LocalEdits)
  }

  /// Limits of a service.
  public struct Options: Hashable, Sendable {
    /// The most requests in a batch.
    public var batchLimit = 200
    /// The most records in a page, also if a client asks for more.
    public var pageLimit = 10_000
    /// The bytes of records after which a page ends.
    public var pageBytes = 4 << 20
    /// The most requests that are answered at once; more are asked to come back (503). From half of
    /// it on, answers ask for a pause (`Backoff`).
    public var concurrentRequests = 128
    /// The service's address as clients know it, as in `https://sync.example.com`; `nil` for the
    /// `Host` and `X-Forwarded-Proto` of each request.
    public var publicOrigin: String?
    /// Whether programs of any web site may use the service, with credentials of their own.
    ///
    /// Leave it off for a service that asks for none.
    public var allowsBrowsers = false
    /// Whether clients of an origin may declare collections.
    public var allowsNewCollections = false

    /// Creates the default options.
    public init() {}
  }

  let store: any LocalStore
  let bucket: String
  let mode: Mode
  let options: Options
  let clock: any Clock<Duration>
  let access: (@Sendable (ServiceRequest) async -> ServiceCaller?)?
  let shared: Shared

  /// What the copies of a service share.
  final class Shared: Sendable {
    let schema: Mutex<SyncSchema>
    let running = Atomic(0)
    /// The timestamps of all types, as one of the waiting clients read them last.
    let courses = Mutex<(at: Timestamp, courses: [RecordType: Ledger.Course])?>(nil)

    init(_ schema: SyncSchema) { self.schema = Mutex(schema) }
  }

  /// Creates a service, and gives the store's records their timestamps.
  ///
  /// - Parameters:
  ///   - store: The store. Of a gateway, the store of the edits.
  ///   - schema: The types to serve; they are registered.
  ///   - bucket: The name of the bucket: letters, digits, hyphens and underscores.
  ///   - mode: Where edits go.
  ///   - options: Limits.
  ///   - clock: Gives timestamps, and measures waits.
  ///   - access: Tells who makes a request and which records are theirs; `nil` refuses the request
  ///     (401). Without it, all requests may read and write everything. The conditions are on
  ///     declared fields.
  /// - Throws: `invalidConfiguration` for a name that no bucket can have; the store's codes.
  /// - Complexity: O(*m* log *m*) for *m* records on the first use of a store.
  public init(
    _ store: any LocalStore, schema: SyncSchema, bucket: String, mode: Mode, options: Options = Options(),
    clock: any Clock<Duration> = ContinuousClock(),
    access: (@Sendable (ServiceRequest) async -> ServiceCaller?)? = nil
  ) async throws(SyncError) {
    guard RecordJSON.isNewID(bucket) || bucket.hasPrefix("_"), bucket != "monitor" else {
      throw SyncError(
        .invalidConfiguration, during: "preparing to serve a store",
        "A bucket's name is made of letters, digits, hyphens and underscores, and is not \"monitor\".")
    }
    (self.store, self.bucket, self.mode, self.options) = (store, bucket, mode, options)
    (self.clock, self.access, shared) = (clock, access, Shared(schema))
    if case .origin = mode { try await store.register(schema) }
    try await withLedger { _, _ in }
  }

  /// The types that are served now.
  public var schema: SyncSchema { shared.schema.withLock { $0 } }

  /// Answers a request.
  ///
  /// Failures are answers too: in Kinto's shape, without contents of records.
  public func respond(to request: ServiceRequest) async -> ServiceResponse {
    let running = shared.running.add(1, ordering: .relaxed).newValue
    var isLoad = true
    defer { if isLoad { shared.running.subtract(1, ordering: .relaxed) } }
    var response: ServiceResponse
    if running > options.concurrentRequests {
      response = Refusal.overload.response
    } else if request.method == "OPTIONS" {
      response = ServiceResponse(status: 200)
    } else if let caller = await (access ?? { _ in .owner() })(request) {
      // Those who wait for changes do not count as load.
      if request.isPatient {
        isLoad = false
        shared.running.subtract(1, ordering: .relaxed)
      }
      response = await answer(request, to: caller)
    } else {
      response = Refusal.unauthenticated.response
    }
    if running * 2 > options.concurrentRequests { response.headers["Backoff"] = "2" }
    response.headers["Date"] = clock.timestamp.httpDate
    response.headers["X-Content-Type-Options"] = "nosniff"
    if options.allowsBrowsers { response.headers.merge(Self.crossOrigin) { a, _ in a } }
    if request.method == "HEAD" { response.body = .bytes([]) }
    return response
  }

  private static let crossOrigin = [
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, PUT, POST, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, If-Match, If-None-Match, Prefer",
    "Access-Control-Expose-Headers":
      "ETag, Next-Page, Total-Objects, Total-Records, Last-Modified, Backoff, Retry-After, Alert, Content-Length",
    "Access-Control-Max-Age": "3600",
  ]

  private func answer(_ request: ServiceRequest, to caller: ServiceCaller) async -> ServiceResponse {
    do throws(SyncError) {
      var call = try Call(request, publicOrigin: options.publicOrigin)
      // Pages of web sites may send any other type without asking.
      let type = call.contentType
      guard request.body.isEmpty || type.hasPrefix("application/") && type.hasSuffix("json") else {
        throw Refusal(415, "The Content-Type should be application/json.").error
      }
      switch call.path.resource {
      case .changes: return try await changes(call, caller)
      case .batch: return try await batch(call, caller)
      case .root, .heartbeat: return try root(call, caller)
      default:
        call.isNews = try await declares(call, caller)
        return try await answers([.success(call)], caller)[0]
      }
    } catch {
      return (Refusal(error) ?? Refusal(failure: error)).response
    }
  }

  /// Declares the collection that a request puts into an origin; returns whether it is new.
  private func declares(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> Bool {
    guard call.method == "PUT", call.path.resource == .collection, call.path.bucket == bucket,
      let type = call.path.type, schema[type] == nil
    else { return false }
    guard case .origin = mode, options.allowsNewCollections, caller.writes(type) == .everything else {
      throw Refusal.forbidden
    }
    let known = try await registered()
    let schema: SyncSchema
    do throws(SyncError) {
      schema = try SyncSchema(known.contains { $0.type == type } ? known : known + [Entity(type)])
    } catch {
      throw Refusal.parameter("id", error.message, in: "path")
    }
    try await store.register(schema)
    shared.schema.withLock { $0 = schema }
    return true
  }

  private func registered() async throws(SyncError) -> [Entity] {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() }
  }

  /// Answers the requests of a batch in one transaction, each on its own.
  private func batch(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> ServiceResponse {
    guard call.method == "POST" else { throw Refusal.wrongMethod }
    let parts = try ServiceRequest.batch(call.request.body, limit: options.batchLimit)
    var calls: [Result<Call, SyncError>] = []
    for part in parts {
      do throws(SyncError) {
        var inner = try Call(part, publicOrigin: call.origin)
        // What cannot be declared is answered in its place.
        inner.isNews = (try? await declares(inner, caller)) ?? false
        calls.append(.success(inner))
      } catch {
        calls.append(.failure(error))
      }
    }
    let responses = zip(parts, try await answers(calls, caller)).map { $1.part(of: $0) }
    return .json(.json(["responses": .json(responses)]))
  }

  /// Answers requests in one transaction, or in one snapshot if they only read.
  private func answers(
    _ calls: [Result<Call, SyncError>], _ caller: ServiceCaller
  ) async throws(SyncError) -> [ServiceResponse] {
    let known = calls.compactMap { try? $0.get() }
    let types = Set(known.compactMap(\.path.type)).sorted()
    if options.allowsNewCollections, types.contains(where: { schema[$0] == nil }) {
      // Another server of the store may have declared it.
      let declared = try SyncSchema(try await registered())
      shared.schema.withLock { $0 = declared }
    }
    return try await withLedger(
      for: access == nil ? nil : caller, types, onlyReads: known.allSatisfy(\.reads)
    ) { (ledger, edits) throws(SyncError) in
      var responses: [ServiceResponse] = []
      for call in calls {
        // What is refused changes nothing.
        do throws(SyncError) {
          responses.append(try answer(try call.get(), caller, &ledger, &edits))
        } catch {
          guard let refusal = Refusal(error) else { throw error }
          responses.append(refusal.response)
        }
      }
      return responses
    }
  }

  /// Runs a body over a ledger that is up to date for a caller who asks for some types.
  ///
  /// A body that only reads runs in a snapshot if the ledger is up to date there. Any other runs in a
  /// transaction, and in a gateway it gets the edits of that transaction.
  func withLedger<R: Sendable>(
    for caller: ServiceCaller? = nil, _ types: [RecordType] = [], onlyReads: Bool = true,
    _ body: @Sendable (inout Ledger, inout EditBatch?) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let (schema, now) = (schema, clock.timestamp)
    if onlyReads {
      let result = try await store.read { (snapshot) throws(SyncError) -> R? in
        var (ledger, edits) = (try Ledger(schema, in: snapshot, at: now), EditBatch?.none)
        return try ledger.catchUp(for: caller, types) ? try body(&ledger, &edits) : nil
      }
      if let result { return result }
    }
    @Sendable func write(
      _ transaction: any StoreTransaction, _ edits: inout EditBatch?
    ) throws(SyncError) -> R {
      var ledger = try Ledger(schema, in: transaction, writingTo: transaction, at: now)
      try ledger.catchUp(for: caller, types)
      let result = try body(&ledger, &edits)
      try ledger.save()
      return result
    }
    if case .gateway(let edits) = mode, !onlyReads {
      return try await edits.perform { (batch) throws(SyncError) in
        var edited: EditBatch? = batch
        let result = try write(batch.transaction, &edited)
        batch = edited ?? batch
        return result
      }
    }
    return try await store.write(.app) { (transaction) throws(SyncError) in
      var none: EditBatch?
      return try write(transaction, &none)
    }
  }
}
