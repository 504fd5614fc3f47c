import CanonicalSync
import FileAdapters
import InMemoryAdapters
import Testing

/// Syncs files in which an id occurs twice.
@Suite("Two lines with one id")
struct RivalTests {
  static let schema = [Entity("teams"), Entity("games", references: [.to("teams", by: "home")])]

  private func sync(_ store: InMemoryStore, _ files: [String: [String]]) async throws -> SyncResult {
    try await withTemporaryDirectory { directory in
      for (name, lines) in files {
        try directory.write(lines.map { $0 + "\n" }.joined(), to: name)
      }
      let source = try DirectorySource(directory: directory.path, identity: "test")
      let engine = try await SyncEngine(schema: SyncSchema(Self.schema), store: store, source: source)
      let result = try await engine.sync()
      #expect(result.total.fetched == result.total.outcomes - result.total.swept)
      return result
    }
  }

  private func shown(_ store: InMemoryStore, _ type: RecordType) -> [String] {
    store.records(of: type).map { String(decoding: $0.payload.bytes, as: UTF8.self) }
  }

  @Test func showTheLaterAndKeepTheOther() async throws {
    let store = InMemoryStore()
    let first = try await sync(store, ["teams.ndjson": [#"{"id":"a","v":9}"#]])
    #expect(first["teams"].inserted == 1)
    let second = try await sync(store, ["teams.ndjson": [#"{"id":"a","v":9}"#, #"{"id":"a","v":10}"#]])
    #expect(shown(store, "teams") == [#"{"id":"a","v":10}"#])
    #expect(second["teams"].updated == 1)
    #expect(second["teams"].quarantined == 1)
    #expect(second["teams"].unchanged == 0)
    let explained = try await Explanation.load(RecordID(type: "teams", key: "a"), from: store)
    #expect(explained.withheld.map(\.kind) == [.quarantined])
  }

  @Test func showTheOneThatCanBeShown() async throws {
    for lines in [
      [#"{"id":"g","home":"nope","v":1}"#, #"{"id":"g","home":"t","v":2}"#],
      [#"{"id":"g","home":"t","v":2}"#, #"{"id":"g","home":"nope","v":1}"#],
    ] {
      let store = InMemoryStore()
      let result = try await sync(store, ["teams.ndjson": [#"{"id":"t"}"#], "games.ndjson": lines])
      #expect(shown(store, "games") == [#"{"id":"g","home":"t","v":2}"#])
      #expect(result["games"].inserted == 1)
      #expect(result["games"].quarantined == 1)
      #expect(result["games"].skippedOlder == 0)
      _ = try await sync(
        store, ["teams.ndjson": [#"{"id":"t"}"#, #"{"id":"nope"}"#], "games.ndjson": lines])
      #expect(shown(store, "games") == [#"{"id":"g","home":"t","v":2}"#])
    }
  }

  @Test func countADeletionThatHadToWaitAsOneThatWasSwept() async throws {
    let store = InMemoryStore()
    let team = #"{"id":"t"}"#
    let game = #"{"id":"g","home":"t"}"#
    _ = try await sync(store, ["teams.ndjson": [team], "games.ndjson": [game]])
    let held = try await sync(store, ["teams.ndjson": [], "games.ndjson": [game]])
    #expect(held.total.isEmpty)
    #expect(shown(store, "teams") == [team])
    // A list that was emptied is read twice before anything goes.
    let doubted = try await sync(store, ["teams.ndjson": [], "games.ndjson": []])
    #expect(doubted.total.isEmpty)
    let released = try await sync(store, ["teams.ndjson": [], "games.ndjson": []])
    #expect(released["games"].swept == 1)
    #expect(released["teams"].deleted == 1)
    #expect(released["teams"].swept == 1)
    #expect(shown(store, "teams") == [])
  }

  @Test func mayHaveAnyTimeAtAll() async throws {
    let store = InMemoryStore()
    let times = ["1.50", "1e999", "12345678901234567890", "\"x\"", "true", "-1", "null", "[1]"]
    let lines = times.enumerated().map { #"{"id":"\#($0.offset)","updated_at":\#($0.element)}"# }
    #expect(try await sync(store, ["teams.ndjson": lines])["teams"].inserted == times.count)
  }
}
