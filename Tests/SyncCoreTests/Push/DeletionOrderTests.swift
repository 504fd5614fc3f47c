import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("The order of deletions")
struct DeletionOrderTests {
  private func sent(_ world: PushWorld) -> [String] { world.batches.flatMap { $0 } }

  @Test func isThatOfReferencesAtTheRemote() async throws {
    let world = try await PushWorld()
    world.remote.upsert("folders", "parent", "{}")
    world.remote.upsert("folders", "child", #"{"parent":"parent"}"#)
    _ = try await world.engine.sync()
    try await world.delete("folders", "child")
    try await world.delete("folders", "parent")
    // Created again, and deleted again, later than its reference.
    try await world.write("folders", "child")
    try await world.delete("folders", "child")
    _ = try await world.engine.sync()
    #expect(sent(world) == ["child", "parent"])
  }

  @Test func holdsBeyondWhatIsReadAtOnce() async throws {
    let world = try await PushWorld()
    world.remote.upsert("folders", "parent", "{}")
    world.remote.upsert("folders", "child", #"{"parent":"parent"}"#)
    for number in 1...900 { world.remote.upsert("folders", "f\(number)", "{}") }
    _ = try await world.engine.sync()
    try await world.delete("folders", "child")
    try await world.delete("folders", "parent")
    try await world.engine.edits.perform { (batch) throws(SyncError) in
      for number in 1...900 { try batch.delete(RecordID(type: "folders", key: "f\(number)")) }
    }
    try await world.write("folders", "child")
    try await world.delete("folders", "child")
    _ = try await world.engine.sync()
    let order = sent(world)
    let (child, parent) = (try #require(order.firstIndex(of: "child")), order.firstIndex(of: "parent"))
    #expect(child < (try #require(parent)))
    #expect(order.count == 902)
  }

  @Test func keepsATargetUntilWhatRefersToItHasGone() async throws {
    let world = try await PushWorld()
    world.remote.upsert("meters", "m", "{}")
    world.remote.upsert("readings", "r", #"{"meter":"m"}"#)
    _ = try await world.engine.sync()
    try await world.delete("readings", "r")
    try await world.delete("meters", "m")
    world.remote.rule(.refused(reason: "no rights"), on: "readings", "r")
    _ = try await world.engine.sync()
    #expect(world.there().keys.sorted() == ["m"])
    world.remote.rule(nil, on: "readings", "r")
    try await world.engine.edits.retry("readings")
    _ = try await world.engine.sync()
    #expect(world.there().isEmpty)
    #expect(world.there("readings").isEmpty)
  }

  /// Two records refer to each other, one of them by an unordered reference. Neither waits for the
  /// other's deletion.
  @Test func ofACircleOverTwoTypesGoesByTheOrderOfTypes() async throws {
    let meters = Entity("meters", references: [.to("readings", by: "last", ordered: false)])
    let world = try await PushWorld([meters, PushWorld.readings])
    world.remote.upsert("meters", "m", #"{"last":"r"}"#)
    world.remote.upsert("readings", "r", #"{"meter":"m"}"#)
    _ = try await world.engine.sync()
    try await world.delete("readings", "r")
    try await world.delete("meters", "m")
    _ = try await world.engine.sync()
    #expect(world.there().isEmpty && world.there("readings").isEmpty)
    #expect(world.batches.flatMap(\.self) == ["r", "m"])
  }
}
