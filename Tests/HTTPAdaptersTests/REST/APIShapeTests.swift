import CanonicalSync
import Foundation
import HTTPAdapters
import InMemoryAdapters
import Testing

@Suite("An API of each shape", .timeLimit(.minutes(10)))
struct APIShapeTests {
  /// A mirror of an API.
  private struct Mirror {
    let api: ShapedAPI
    let store = InMemoryStore()

    func engine() async throws -> SyncEngine {
      let description = try api.shape.description()
      let source = try RESTSource(description, transport: api, clock: api.clock)
      return try await SyncEngine(
        schema: description.schema, store: store, source: source,
        sink: api.shape.ownKey == nil ? nil : RESTSink(source), clock: api.clock,
        options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    }

    var values: [String: Int] {
      var values: [String: Int] = [:]
      for record in store.records(of: "items") {
        let object = try? JSONSerialization.jsonObject(with: Data(record.payload.bytes)) as? [String: Any]
        values[record.id.key] = object?["n"] as? Int ?? -1
      }
      return values
    }

    /// Syncs by an engine of its own each time, as processes that start, until nothing is left to do.
    func syncUntilEqual() async throws {
      for round in 1...5 {
        api.clock.advance(by: .seconds(30 * 3600))
        let engine = try await engine()
        let result = try? await engine.sync()
        let waiting = try await engine.edits.pending("items").count
        if result?.failures.isEmpty == true, waiting == 0, values == api.values, round > 1 { return }
      }
      #expect(values == api.values)
    }
  }

  /// Mirrors an API that changes, and sends it edits.
  ///
  /// - Returns: The number of requests.
  private func run(
    _ shape: APIShape, losing lost: (place: Int, loss: ShapedAPI.Loss)? = nil
  ) async throws -> Int {
    let mirror = Mirror(api: ShapedAPI(shape, losing: lost))
    for number in 1...8 { mirror.api.put(number, number) }
    try await mirror.syncUntilEqual()
    mirror.api.put(2, 20)
    mirror.api.put(5, nil)
    mirror.api.put(9, 9)
    try await mirror.syncUntilEqual()
    guard let own = shape.ownKey else { return mirror.api.requests }
    try await mirror.engine().edits.perform { (batch) throws(SyncError) in
      try batch.set(RecordID(type: "items", key: own)) { (fields) throws(SyncError) in
        fields["n"] = Array("100".utf8)[...]
        fields["ext"] = Array("\"\(own)\"".utf8)[...]
      }
      try batch.set(RecordID(type: "items", key: "r1")) { $0["n"] = Array("11".utf8)[...] }
      try batch.delete(RecordID(type: "items", key: "r3"))
    }
    try await mirror.syncUntilEqual()
    #expect(mirror.api.values.values.sorted() == [4, 6, 7, 8, 9, 11, 20, 100])
    return mirror.api.requests
  }

  /// Changes, deletions, and edits arrive once, whichever request or answer is lost.
  @Test(arguments: APIShape.all)
  func isMirroredThroughTheLossOfEachRequestAndAnswer(_ shape: APIShape) async throws {
    let requests = try await run(shape)
    for place in 1...requests {
      for loss in ShapedAPI.Loss.allCases {
        let more = try await run(shape, losing: (place, loss)) - requests
        // A pass resumes where it stopped.
        #expect(more <= 6, "request \(place), \(loss)")
      }
    }
  }
}
