public import SyncCore
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
    let now = clock.timestamp
    try await store.write(.app) { (transaction) throws(SyncError) in
      var ledger = try Ledger(schema, in: transaction, at: now)
      try ledger.catchUp(in: transaction)
    }
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
    } else if let caller = await caller(of: request) {
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

  private func caller(of request: ServiceRequest) async -> ServiceCaller? {
    guard let access else { return .owner() }
    return await access(request)
  }

  private func answer(_ request: ServiceRequest, to caller: ServiceCaller) async -> ServiceResponse {
    do throws(SyncError) {
      var call = try Call(request, publicOrigin: options.publicOrigin)
      // Pages of web sites may send any other type without asking.
      let type = call.contentType ?? ""
      guard request.body.isEmpty || type.hasPrefix("application/") && type.hasSuffix("json") else {
        throw Refusal(415, 107, "The Content-Type should be application/json.").error
      }
      if call.path == ServicePath.changes { return try await changes(call, caller) }
      switch call.path.resource {
      case .batch: return try await batch(call, caller)
      case .root, .heartbeat: return root(call, caller)
      default:
        call.isNews = try await declares(call, caller)
        return try await answers([call], caller)[0]
      }
    } catch {
      return (Refusal(error) ?? Refusal(failure: error)).response
    }
  }

  func root(_ call: Call, _ caller: ServiceCaller) -> ServiceResponse {
    guard call.reads else { return Refusal.wrongMethod.response }
    if call.path.resource == .heartbeat { return .json(.json(["storage": Array("true".utf8)])) }
    let changes =
      "Track modifications of records and store the collection timestamps into a dedicated bucket and collection."
    return .json(
      .json([
        "project_name": .json("CanonicalSync"), "project_version": .json(LibraryVersion.current),
        "http_api_version": .json("1.23"), "url": .json("\(call.origin)/v1/"),
        "settings": .json([
          "batch_max_requests": .json(options.batchLimit), "readonly": Array("false".utf8),
        ]),
        "capabilities": .json(["changes": .json(["description": .json(changes)])]),
        "user": .json(["id": .json(caller.id)]),
      ]))
  }

  /// Declares the collection that a request puts into an origin; returns whether it is new.
  private func declares(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> Bool {
    guard call.method == "PUT", call.path.resource == .collection, call.path.bucket == bucket,
      let type = call.path.type, schema[type] == nil
    else { return false }
    guard case .origin = mode, options.allowsNewCollections, caller.writes(type) == .everything else {
      throw Refusal.forbidden.error
    }
    let known = try await registered()
    let schema: SyncSchema
    do throws(SyncError) {
      schema = try SyncSchema(known.contains { $0.type == type } ? known : known + [Entity(type)])
    } catch {
      throw Refusal.parameter("id", error.message, in: "path").error
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
    guard call.method == "POST" else { throw Refusal.wrongMethod.error }
    let parts = try ServiceRequest.batch(call.request.body, limit: options.batchLimit)
    var calls: [Call] = []
    // Refusals in their places, `nil` for what is answered below.
    var refused: [ServiceResponse?] = []
    for part in parts {
      do throws(SyncError) {
        var inner = try Call(part, publicOrigin: call.origin)
        if inner.path.resource == .batch || inner.path == ServicePath.changes {
          throw Refusal.wrongMethod.error
        }
        // What cannot be declared is answered in its place.
        inner.isNews = (try? await declares(inner, caller)) ?? false
        calls.append(inner)
        refused.append(nil)
      } catch {
        refused.append((Refusal(error) ?? Refusal(failure: error)).response)
      }
    }
    var answers = (calls.isEmpty ? [] : try await answers(calls, caller)).makeIterator()
    let responses = refused.compactMap { $0 ?? answers.next() }
    return .json(.json(["responses": .json(zip(parts, responses).map { $1.part(of: $0) })]))
  }

  /// Answers requests in one transaction, or in one snapshot if they only read.
  func answers(_ calls: [Call], _ caller: ServiceCaller) async throws(SyncError) -> [ServiceResponse] {
    let types = Set(calls.compactMap(\.path.type)).sorted()
    if options.allowsNewCollections, types.contains(where: { self.schema[$0] == nil }) {
      // Another server of the store may have declared it.
      let known = try SyncSchema(try await registered())
      shared.schema.withLock { $0 = known }
    }
    let tracking = Set(types.filter { caller.reads($0).condition != nil })
    let limited = access == nil ? [] : types
    let (schema, service, now) = (self.schema, self, clock.timestamp)
    let onlyReads = calls.allSatisfy(\.reads)
    if onlyReads {
      let responses: [ServiceResponse]? = try await store.read { (snapshot) throws(SyncError) in
        let ledger = try Ledger(schema, in: snapshot, at: now)
        guard try ledger.isCurrent(tracking: tracking) else { return nil }
        for type in limited where ledger.courses[type] != nil {
          guard try ledger.rightsStart(of: caller, type) != nil else { return nil }
        }
        var exchange = Exchange(service: service, caller: caller, ledger: ledger)
        return try exchange.answers(calls)
      }
      if let responses { return responses }
    }
    let answer = { @Sendable (writer: inout Exchange.Writer) throws(SyncError) -> [ServiceResponse] in
      let transaction = writer.transaction
      var ledger = try Ledger(schema, in: transaction, at: now)
      try ledger.catchUp(in: transaction, tracking: tracking)
      for type in limited { try ledger.rememberRights(of: caller, type, in: transaction) }
      var exchange = Exchange(service: service, caller: caller, ledger: ledger, writer: writer)
      let responses = try exchange.answers(calls)
      try exchange.ledger.save(in: transaction)
      writer = exchange.writer ?? writer
      return responses
    }
    if case .gateway(let edits) = mode, !onlyReads {
      return try await edits.perform { (batch) throws(SyncError) in
        var writer = Exchange.Writer.gateway(batch)
        let responses = try answer(&writer)
        if case .gateway(let edited) = writer { batch = edited }
        return responses
      }
    }
    return try await store.write(.app) { (transaction) throws(SyncError) in
      var writer = Exchange.Writer.origin(transaction)
      return try answer(&writer)
    }
  }
}

extension ServiceResponse {
  static func json(_ body: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> ServiceResponse {
    ServiceResponse(
      status: status, headers: headers.merging(["Content-Type": "application/json"]) { a, _ in a },
      body: .bytes(body))
  }

  /// An answer with some data.
  static func data(_ data: [UInt8], headers: [String: String] = [:]) -> ServiceResponse {
    .json(.json(["data": data]), headers: headers)
  }

  /// An answer with one resource.
  static func resource(_ data: [UInt8], _ headers: [String: String], status: Int = 200) -> ServiceResponse {
    .json(.json(["data": data, "permissions": Array("{}".utf8)]), status: status, headers: headers)
  }
}

extension Timestamp {
  /// The time as HTTP's headers have it.
  var httpDate: String {
    let seconds = microseconds >= 0 ? microseconds / 1_000_000 : 0
    let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let parts = date.split(separator: "-")
    guard parts.count == 3, let month = Int(parts[1]), (1...12).contains(month) else { return "" }
    let clock = [seconds / 3600 % 24, seconds / 60 % 60, seconds % 60].map { $0 < 10 ? "0\($0)" : "\($0)" }
    return
      "\(weekdays[Int(seconds / 86_400 % 7)]), \(parts[2]) \(months[month - 1]) \(parts[0]) \(clock.joined(separator: ":")) GMT"
  }
}
