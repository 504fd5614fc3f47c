import CanonicalSync
import CanonicalSyncTestPostgres
import Foundation
import HTTPAdapters
import InMemoryAdapters
import KintoAdapters
import PostgresAdapters
import SQLiteAdapters
import SyncAdapters
import SyncServing
import Synchronization
import Testing

/// The kinds of stores that services are tried on.
enum ServedKind: String, CaseIterable, Sendable {
  case memory, sqlite, postgres

  static var present: [ServedKind] {
    #if Postgres
      let hasDatabase = Database.isThere
    #else
      let hasDatabase = false
    #endif
    return allCases.filter { $0 != .postgres || hasDatabase }
  }
}

/// A store, and the services of it.
struct ServedStore: Sendable {
  /// Opens the store once more, as another process does; in memory, the same one.
  let open: @Sendable () async throws -> any LocalStore
  let store: any LocalStore
  let schema: SyncSchema

  static let games = Entity("games", indexes: ["owner", "seats"])
  static let items = Entity("items", indexes: ["value"])

  /// Calls a body with an empty store.
  static func with(
    _ kind: ServedKind, _ entities: [Entity] = [games, items], _ body: (ServedStore) async throws -> Void
  ) async throws {
    let schema = try SyncSchema(entities)
    switch kind {
    case .memory:
      let store = InMemoryStore()
      try await store.register(schema)
      try await body(ServedStore(open: { store }, store: store, schema: schema))
    case .sqlite:
      let folder = FileManager.default.temporaryDirectory.appending(path: "served-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let path = folder.appending(path: "store.sqlite").path
      let stores = Mutex<[SQLiteStore]>([])
      let open = { @Sendable () async throws -> any LocalStore in
        let store = try await SQLiteStore.open(path: path)
        stores.withLock { $0.append(store) }
        try await store.register(schema)
        return store
      }
      try await body(ServedStore(open: open, store: try await open(), schema: schema))
      for store in stores.withLock({ $0 }) { await store.close() }
    case .postgres:
      #if Postgres
        try await Database.withSchema { name in
          let handles = Handles()
          let open = { @Sendable () async throws -> any LocalStore in
            let store = handles.keep(try await Database.open(name))
            try await store.register(schema)
            return store
          }
          do {
            try await body(ServedStore(open: open, store: try await open(), schema: schema))
          } catch {
            await handles.closeAll()
            throw error
          }
          await handles.closeAll()
        }
      #else
        throw CocoaError(.featureUnsupported)
      #endif
    }
  }

  /// A service of the store, as one server's.
  func service(
    _ store: (any LocalStore)? = nil, gateway: Bool = false, options: KintoService.Options = .init(),
    access: (@Sendable (ServiceRequest) async -> ServiceCaller?)? = nil
  ) async throws -> KintoService {
    let store = store ?? self.store
    return try await KintoService(
      store, schema: schema, bucket: "b",
      mode: gateway ? .gateway(LocalEdits(store: store, schema: schema)) : .origin, options: options,
      access: access)
  }

  /// Writes records as a sync of another process does.
  func put(_ type: RecordType, _ records: [(key: String, json: String)], version: Int64 = 1) async throws {
    let entity = try #require(schema[type])
    _ = try await store.write(.app) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      for (key, json) in records {
        let payload = Payload(Array(json.utf8))
        var record = Record(
          id: RecordID(type: type, key: key), version: Version(modifiedAt: Timestamp(milliseconds: version)),
          payload: payload, fields: [])
        do { record.fields = try entity.fields(of: payload) } catch {
          throw SyncError(.inconsistentData, during: "testing")
        }
        changes.put.append(record)
      }
      try transaction.apply(changes)
    }
  }

  func delete(_ type: RecordType, _ keys: [String]) async throws {
    _ = try await store.write(.app) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      changes.deleted = keys.map {
        Tombstone(id: RecordID(type: type, key: $0), version: Version(modifiedAt: Timestamp(milliseconds: 9)))
      }
      try transaction.apply(changes)
    }
  }
}

/// An answer, read.
struct Answer: CustomStringConvertible {
  var status: Int
  var headers: [String: String]
  var text: String
  var description: String { "\(status) \(text)" }

  /// The member `data` as objects.
  var list: [[String: Any]] { object["data"] as? [[String: Any]] ?? [] }
  var record: [String: Any] { object["data"] as? [String: Any] ?? [:] }
  var object: [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8))) as? [String: Any] ?? [:]
  }
  var ids: [String] { list.compactMap { $0["id"] as? String } }
  var stamps: [Int] { list.compactMap { $0["last_modified"] as? Int } }
  var stamp: Int { record["last_modified"] as? Int ?? 0 }
  var etag: Int { Int((headers["ETag"] ?? "").filter { $0 != "\"" }) ?? 0 }
}

extension KintoService {
  static let records = "/v1/buckets/b/collections/games/records"

  func ask(
    _ method: String, _ target: String, _ body: String, _ headers: [String: String] = [:]
  ) async -> Answer {
    let type = body.isEmpty ? [:] : ["Content-Type": "application/json"]
    let response = await respond(
      to: ServiceRequest(method, target, headers: headers.merging(type) { a, _ in a }, body: Array(body.utf8))
    )
    return Answer(
      status: response.status, headers: response.headers,
      text: String(decoding: response.bytes, as: UTF8.self))
  }

  func ask(
    _ method: String, _ target: String = records, body: String = "", headers: [String: String] = [:]
  ) async -> Answer {
    await ask(method, target, body, headers)
  }

  func put(_ key: String, _ members: String, _ headers: [String: String] = [:]) async -> Answer {
    await ask("PUT", "\(Self.records)/\(key)", #"{"data":{\#(members)}}"#, headers)
  }
}

/// Carries this package's own requests to a service, without a socket.
struct ServiceTransport: HTTPTransport {
  let service: KintoService
  /// Headers that each request gets.
  var headers: [String: String] = [:]
  static let server = "http://service.test/v1"

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let target = request.address.path + (request.address.query.map { "?\($0)" } ?? "")
    var headers = headers.merging(["Host": "service.test"]) { a, _ in a }
    for (name, value) in request.headers.fields { headers[name] = value }
    let response = await service.respond(
      to: ServiceRequest(request.method, target, headers: headers, body: request.body))
    var answer = HTTPResponse(status: response.status, body: response.bytes)
    for (name, value) in response.headers { answer.headers[name] = value }
    return answer
  }

  func source(
    overlap: Duration = .seconds(5), clock: any Clock<Duration> = ContinuousClock()
  ) throws -> KintoSource {
    var options = KintoSource.Options()
    options.allowsPlainHTTP = true
    options.overlap = overlap
    return try KintoSource(server: Self.server, bucket: "b", options: options, transport: self, clock: clock)
  }
}
