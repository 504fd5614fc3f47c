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
    let running = Mutex(0)
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
      var ledger = try Ledger(in: transaction)
      try ledger.catchUp(in: transaction, schema, tracking: [], at: now)
    }
  }

  /// The types that are served now.
  public var schema: SyncSchema { shared.schema.withLock { $0 } }

  /// Answers a request.
  ///
  /// Failures are answers too: in Kinto's shape, without contents of records.
  public func respond(to request: ServiceRequest) async -> ServiceResponse {
    let running = shared.running.withLock { running in
      running += 1
      return running
    }
    var ends = true
    defer { if ends { shared.running.withLock { $0 -= 1 } } }
    var response: ServiceResponse
    if running > options.concurrentRequests {
      var refusal = Refusal(503, 201, "Too many requests at once. Try again later.")
      refusal.headers["Retry-After"] = "1"
      response = refusal.response
    } else if request.method == "OPTIONS" {
      response = ServiceResponse(status: 200)
    } else if let caller = await caller(of: request) {
      // Those who wait for changes do not count as load.
      if request.isPatient {
        ends = false
        shared.running.withLock { $0 -= 1 }
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
      let type = request.headers["content-type"]?.prefix { $0 != ";" }.lowercased() ?? ""
      guard request.body.isEmpty || type.hasPrefix("application/") && type.hasSuffix("json") else {
        throw Refusal(415, 107, "The Content-Type should be application/json.").error
      }
      if call.path == .batch { return try await batch(call, caller) }
      if call.isAboutChanges { return try await changes(call, caller) }
      if call.path == .root || call.path == .heartbeat { return root(call, caller) }
      if call.method == "PUT", case .collection(let name, let type) = call.path, name == bucket {
        call.isNews = try await declare(RecordType(type), caller)
      }
      return try await answers([call], caller)[0]
    } catch {
      return (Refusal(error) ?? Refusal(failure: error)).response
    }
  }

  func root(_ call: Call, _ caller: ServiceCaller) -> ServiceResponse {
    guard call.reads else { return Refusal.wrongMethod.response }
    if call.path == .heartbeat { return .json(Array("{\"storage\":true}".utf8)) }
    var json = Array("{\"project_name\":\"CanonicalSync\",\"project_version\":".utf8)
    JSONString.append(LibraryVersion.current, to: &json)
    json += Array(",\"http_api_version\":\"1.23\",\"url\":".utf8)
    JSONString.append("\(call.origin)/v1/", to: &json)
    json += Array(
      ",\"settings\":{\"batch_max_requests\":\(options.batchLimit),\"readonly\":false},\"capabilities\":{\"changes\":{\"description\":\"Track modifications of records and store the collection timestamps into a dedicated bucket and collection.\"}},\"user\":{\"id\":"
        .utf8)
    JSONString.append(caller.id, to: &json)
    return .json(json + Array("}}".utf8))
  }

  /// Declares a new collection of an origin; returns whether it is new.
  private func declare(_ type: RecordType, _ caller: ServiceCaller) async throws(SyncError) -> Bool {
    guard schema[type] == nil else { return false }
    guard case .origin = mode, options.allowsNewCollections, caller.writes(type) == .everything else {
      throw Refusal.forbidden.error
    }
    let known: [Entity] = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.registeredEntities()
    }
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

  /// Answers the requests of a batch in one transaction, each on its own.
  private func batch(_ call: Call, _ caller: ServiceCaller) async throws(SyncError) -> ServiceResponse {
    guard call.method == "POST" else { throw Refusal.wrongMethod.error }
    let parts = try BatchRequest.read(call.body, limit: options.batchLimit)
    var calls: [Call?] = []
    var refusals: [Refusal] = []
    for part in parts {
      do throws(SyncError) {
        let inner = try Call(part.request, publicOrigin: call.origin)
        if inner.path == .batch || inner.isAboutChanges { throw Refusal.wrongMethod.error }
        calls.append(inner)
      } catch {
        refusals.append(Refusal(error) ?? Refusal(failure: error))
        calls.append(nil)
      }
    }
    for place in calls.indices where calls[place]?.method == "PUT" {
      if case .collection(let name, let type)? = calls[place]?.path, name == bucket {
        // What cannot be declared is answered in its place.
        calls[place]?.isNews = (try? await declare(RecordType(type), caller)) ?? false
      }
    }
    let whole = calls.compactMap(\.self)
    let answers = whole.isEmpty ? [] : try await answers(whole, caller)
    var (next, refused) = (answers.makeIterator(), refusals.makeIterator())
    let responses = calls.map { $0 == nil ? refused.next()?.response : next.next() }
    return .json(BatchRequest.body(zip(parts, responses.compactMap(\.self)).map { ($0, $1) }))
  }

  /// Answers requests in one transaction, or in one snapshot if they only read.
  func answers(_ calls: [Call], _ caller: ServiceCaller) async throws(SyncError) -> [ServiceResponse] {
    let types = Set(calls.compactMap { $0.type })
    if options.allowsNewCollections, types.contains(where: { self.schema[$0] == nil }) {
      // Another server of the store may have declared it.
      let known = try SyncSchema(
        try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() })
      shared.schema.withLock { $0 = known }
    }
    let hasRights = access != nil
    let tracking = types.filter { caller.reads($0).condition != nil }
    let (schema, service, now) = (self.schema, self, clock.timestamp)
    if calls.allSatisfy(\.reads) {
      let responses: [ServiceResponse]? = try await store.read { (snapshot) throws(SyncError) in
        let ledger = try Ledger(in: snapshot)
        guard try ledger.isCurrent(in: snapshot, schema, tracking: tracking) else { return nil }
        if hasRights {
          for type in types where ledger.courses[type] != nil {
            guard try ledger.rightsStart(of: caller, type, in: snapshot) != nil else { return nil }
          }
        }
        var exchange = Exchange(service, schema, caller, snapshot, ledger, now)
        return try exchange.answers(calls)
      }
      if let responses { return responses }
    }
    let prepare = { @Sendable (transaction: any StoreTransaction) throws(SyncError) -> Exchange in
      var ledger = try Ledger(in: transaction)
      try ledger.catchUp(in: transaction, schema, tracking: tracking, at: now)
      if hasRights {
        for type in types.sorted() { try ledger.rememberRights(of: caller, type, in: transaction, at: now) }
      }
      return Exchange(service, schema, caller, transaction, ledger, now)
    }
    if case .gateway(let edits) = mode, !calls.allSatisfy(\.reads) {
      return try await edits.perform { (batch) throws(SyncError) in
        var exchange = try prepare(batch.transaction)
        exchange.writer = .gateway(batch)
        let responses = try exchange.answers(calls)
        if case .gateway(let edited) = exchange.writer { batch = edited }
        try exchange.ledger.finish(in: batch.transaction)
        return responses
      }
    }
    return try await store.write(.app) { (transaction) throws(SyncError) in
      var exchange = try prepare(transaction)
      exchange.writer = .origin(transaction)
      let responses = try exchange.answers(calls)
      try exchange.ledger.finish(in: transaction)
      return responses
    }
  }
}

extension ServiceResponse {
  static func json(_ body: [UInt8], status: Int = 200, headers: [String: String] = [:]) -> ServiceResponse {
    ServiceResponse(
      status: status, headers: headers.merging(["Content-Type": "application/json"]) { a, _ in a },
      body: .bytes(body))
  }
}

/// A request as the API understands it.
struct Call: Sendable {
  var method: String
  var path: ServicePath
  var pairs: [(name: String, value: String)]
  var headers: [String: String]
  var body: [UInt8]
  /// The path as it came, and the origin: for the addresses of next pages.
  var address: String
  var origin: String
  /// Whether the request has just declared its collection.
  var isNews = false

  init(_ request: ServiceRequest, publicOrigin: String?) throws(SyncError) {
    let halves = request.target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = halves.first, let path = ServicePath(address) else { throw Refusal.unknownPath.error }
    self.path = path
    self.address = address.hasPrefix("/v1") ? String(address) : "/v1\(address)"
    pairs = halves.count == 2 ? try PercentText.query(halves[1]) : []
    (method, headers, body) = (request.method, request.headers, request.body)
    // The header of a proxy; a client that sends it deceives itself alone.
    let scheme = request.headers["x-forwarded-proto"] == "https" ? "https" : "http"
    origin = publicOrigin ?? "\(scheme)://\(request.headers["host"] ?? "localhost")"
  }

  /// Whether the request changes nothing.
  var reads: Bool { method == "GET" || method == "HEAD" }

  var isAboutChanges: Bool { path == .records("monitor", "changes") }

  /// The type that the request is about.
  var type: RecordType? {
    switch path {
    case .collection(_, let type), .records(_, let type), .record(_, let type, _), .refusals(_, let type):
      RecordType(type)
    default: nil
    }
  }

  /// The timestamp of a precondition; -1 for `*`.
  func precondition(_ name: String) throws(SyncError) -> Int64? {
    guard let text = headers[name] else { return nil }
    if text == "*" || text == "\"*\"" { return -1 }
    let bare = text.hasPrefix("W/") ? String(text.dropFirst(2)) : text
    guard bare.hasPrefix("\""), let time = try? ListQuery.timestamp(name, bare) else {
      throw Refusal.parameter(name, "Invalid value for \(name)", in: "header").error
    }
    return time
  }
}

extension ServiceRequest {
  /// Whether the client waits until something changes.
  var isPatient: Bool {
    headers["accept"]?.contains("text/event-stream") ?? false || headers["prefer"]?.contains("wait") ?? false
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
