import CanonicalSync
import Testing

@testable import FileAdapters

@Suite("The line numbers of records")
struct LineSearchTests {
  private func id(_ key: String, _ type: RecordType = "games") -> RecordID { RecordID(type: type, key: key) }

  @Test(arguments: [(8, 16), (256 << 10, 8 << 20)])
  func isEachLineThatHasTheID(_ blockBytes: Int, _ pageBytes: Int) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(
        """
        \u{FEFF}{"id":"a"}

        {"id":"b"}\r
        nonsense
        {"x":1,"id":"\\u0061"}
          \t
        {"id":"a","broken":
        {"id":7}
        {"id":"c"}
        {"id":"a"}
        """, to: "games.ndjson")
      try directory.write(#"{"id":"a"}"#, to: "teams.ndjson")
      let source = try DirectorySource(
        directory: directory.path, identity: nil, limits: .init(blockBytes: blockBytes, pageBytes: pageBytes),
        executor: .inline)
      let found = try await source.lines(of: [id("a"), id("7"), id("zz"), id("a", "teams"), id("a", "none")])
      #expect(found == [id("a"): [1, 5, 7, 10], id("7"): [8], id("a", "teams"): [1]])
    }
  }

  @Test func leavesAPassWhereItWas() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...4), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let first = try await source.page(.start(since: nil), limit: 2)
      #expect(try await source.lines(of: [id("g3")]) == [id("g3"): [3]])
      let token = try #require(next(first))
      #expect(
        try await source.page(.resume(token), limit: 2).changes.compactMap { $0.id?.key } == ["g3", "g4"])
    }
  }

  @Test func isNotToBeHadOfAFileThatCannotBeRead() async throws {
    try await withTemporaryDirectory { directory in
      let source = try DirectorySource(directory: "\(directory.path)")
      await #expect(throws: SyncError.self) { try await source.lines(of: [id("x", "a/b")]) }
    }
  }
}
