import CanonicalSync
import HTTPAdapters
import InMemoryAdapters
import SyncJSON

/// The records of a fake JSON API by their path, such as `labels/home`.
struct KeyedRecords {
  var all: [String: FieldMap] = [:]

  private func ofType(_ type: String) -> [(key: String, value: FieldMap)] {
    all.filter { $0.key.hasPrefix(type + "/") }.sorted { $0.key < $1.key }
  }

  /// The elements of a type's list, with commas between.
  func elements(of type: String) -> String {
    ofType(type).map { String(decoding: $0.value.payload.bytes, as: UTF8.self) }.joined(separator: ",")
  }

  /// The answer to a request for one record.
  func answer(at path: String) -> HTTPResponse {
    all[path].map { HTTPResponse(status: 200, body: Array($0.payload.bytes)) } ?? HTTPResponse(status: 404)
  }

  /// The records of a type by key.
  func payloads(of type: String) -> [String: Payload] {
    Dictionary(
      uniqueKeysWithValues: ofType(type).map { (String($0.key.dropFirst(type.count + 1)), $0.value.payload) })
  }
}

/// An engine with a store in memory, and the fake JSON API that it mirrors.
struct KeyedMirror<Server: HTTPTransport> {
  let server: Server
  let store = InMemoryStore()
  let engine: SyncEngine

  /// - Parameters:
  ///   - types: The description's types, in JSON.
  ///   - entities: The same types.
  init(_ server: Server, types: String, _ entities: Entity...) async throws {
    let json = #"{"base":"https://api.test/v1/","types":\#(types)}"#
    let source = try RESTSource(RESTAPI(json: Array(json.utf8), named: "api.json"), transport: server)
    self.server = server
    engine = try await SyncEngine(
      schema: SyncSchema(entities), store: store, source: source, sink: RESTSink(source))
  }

  /// Sets members of a record to texts.
  func write(_ type: RecordType, _ key: String, _ members: [FieldName: String]) async throws {
    try await engine.edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: type, key: key)) { (fields) throws(SyncError) in
        for (name, value) in members { fields[name] = JSONString.quoted(value)[...] }
      }
    }
  }

  func sync() async throws -> [SyncError] { try await engine.sync().failures.map(\.error) }

  /// The records of a type in the store, by key.
  func payloads(of type: RecordType) -> [String: Payload] {
    Dictionary(uniqueKeysWithValues: store.records(of: type).map { ($0.id.key, $0.payload) })
  }
}
