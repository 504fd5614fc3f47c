import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("The explanation of a record with an edit", .timeLimit(.minutes(10)))
struct ExplanationTests {
  private func story(_ world: PushWorld, _ key: String) async throws -> String {
    try await world.engine.explain(RecordID(type: "meters", key: key)).description
  }

  @Test func saysWhatTheEditWaitsFor() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    #expect(try await story(world, "m1").contains("waits for the next push"))
    #expect(try await story(world, "m1").contains("of a record that the remote never had"))
    world.remote.rule(.retryLater(after: nil), on: "meters", "m1")
    _ = try await world.engine.sync()
    #expect(try await story(world, "m1").contains("was postponed by the remote"))
  }

  @Test func quotesWhatTheRemoteHadAgainstIt() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    world.remote.rule(.refused(reason: "no \u{1B}[31m meters"), on: "meters", "m1")
    _ = try await world.engine.sync()
    let story = try await story(world, "m1")
    #expect(story.contains("was refused by the remote: \"no "))
    #expect(!story.contains("\u{1B}"))
  }

  @Test func saysThatItWasSentIfNoAnswerCame() async throws {
    let world = try await PushWorld(options: SyncOptions(retry: RetryPolicy(attempts: 1)))
    try await world.write("meters", "m1")
    world.remote.behave(.loseAnswer(SyncError(.remoteUnavailable, during: "pushing")), onNextPushes: 1)
    _ = try? await world.engine.push()
    #expect(try await story(world, "m1").contains("is sent again until the remote answers"))
  }

  @Test func saysThatTheRecordWasDeletedHere() async throws {
    let world = try await PushWorld()
    try await world.write("meters", "m1")
    _ = try await world.engine.sync()
    try await world.engine.edits.delete(RecordID(type: "meters", key: "m1"))
    let story = try await story(world, "m1")
    #expect(story.contains("was deleted here") && story.contains("Its deletion, on top of version"))
  }
}
