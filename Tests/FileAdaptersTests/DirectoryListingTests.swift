import CanonicalSync
import SyncAdapters
import Testing

@testable import FileAdapters

@Suite("A directory's listing", .timeLimit(.minutes(10)))
struct DirectoryListingTests {
  @Test(arguments: [1, 2, 3, 7, 400])
  func holdsEveryLineOnceInOrder(_ limit: Int) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...7), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let listing = try await source.listing(limit: limit)
      #expect(listing.keys == (1...7).map { "g\($0)" })
      #expect(listing.pages.allSatisfy { $0.coverage == .full && $0.total == 7 })
      #expect(listing.pages.allSatisfy { $0.changes.count <= limit })
      #expect(listing.pages.count == (7 + limit - 1) / limit)
      #expect(listing.token != nil)
    }
  }

  @Test func numbersCopiesByThePassAndTheirModificationTime() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(
        #"{"updated_at":1700000000123,"id":7,"home_team_id":"BOS","date":"2026-04-01"}"#, to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path, executor: .inline)
      let page = try await source.page(.start(since: nil), pass: 9)
      let record = Record(
        id: RecordID(type: "games", key: "7"),
        version: Version(sequence: 9, modifiedAt: Timestamp(milliseconds: 1_700_000_000_123)),
        payload: Payload(
          Array(#"{"updated_at":1700000000123,"id":7,"home_team_id":"BOS","date":"2026-04-01"}"#.utf8)),
        fields: ["BOS", "2026-04-01"])
      #expect(page.changes == [.upsert(record)])
    }
  }

  @Test(
    arguments: [
      ("no newline at the end", "{\"id\":\"a\"}\n{\"id\":\"b\"}"),
      ("carriage returns", "{\"id\":\"a\"}\r\n{\"id\":\"b\"}\r\n"),
      ("blank lines", "\n\n  \n{\"id\":\"a\"}\n\t\r\n\n{\"id\":\"b\"}\n\n \n"),
      ("a byte order mark", "\u{FEFF}{\"id\":\"a\"}\n{\"id\":\"b\"}\n"),
      ("a byte order mark and a blank line", "\u{FEFF}\r\n{\"id\":\"a\"}\n{\"id\":\"b\"}"),
      ("a blank last line", "{\"id\":\"a\"}\n{\"id\":\"b\"}\n   "),
      ("space around", "  {\"id\":\"a\"} \n\t{\"id\":\"b\"}\t\r\n"),
    ])
  func toleratesHowFilesAreWritten(_ what: String, _ text: String) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(text, to: "games.ndjson")
      for limit in 1...3 {
        for blockBytes in [4, 16, 4096] {
          let source = try DirectorySource(
            directory: directory.path, identity: nil, limits: .init(blockBytes: blockBytes), executor: .inline
          )
          let listing = try await source.listing(limit: limit)
          #expect(listing.payloads == [#"{"id":"a"}"#, #"{"id":"b"}"#], "\(what), \(limit), \(blockBytes)")
          #expect(listing.pages.allSatisfy { $0.total == 2 })
          #expect(listing.token != nil)
        }
      }
    }
  }

  @Test(arguments: ["", "\n", "\u{FEFF}", " \r\n\n"])
  func ofAFileWithoutRecordsIsEmptyAndComplete(_ text: String) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(text, to: "games.ndjson")
      let page = try await DirectorySource(directory: directory.path).page(.start(since: nil))
      #expect(page.changes.isEmpty && page.coverage == .full && page.total == 0)
      guard case .done(.some) = page.next else {
        Issue.record("the listing does not end: \(page.next)")
        return
      }
    }
  }

  @Test func isolatesWhatIsNoRecordAndSaysWhereItIs() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(
        "{\"id\":\"a\"}\n\n[1]\r\n{\"id\":\"b\",\"updated_at\":today}\n{\"name\":\"x\"}\nnonsense\n{\"id\":\"c\"}",
        to: "games.ndjson")
      let listing = try await DirectorySource(directory: directory.path).listing(limit: 2)
      #expect(listing.keys == ["a", "b", "c"])
      #expect(listing.malformed.map(\.location) == [3, 4, 5, 6].map { "games.ndjson, line \($0)" })
      #expect(listing.malformed.map(\.key) == [nil, "b", nil, nil])
      #expect(
        listing.malformed.map { String(decoding: $0.bytes.bytes, as: UTF8.self) } == [
          "[1]", "{\"id\":\"b\",\"updated_at\":today}", "{\"name\":\"x\"}", "nonsense",
        ])
      #expect(listing.pages[0].total == 6)
    }
  }

  @Test func passesOverBytesThatAreNoText() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(
        [0xFF, 0x00, 0x0A] + Array("{\"id\":\"a\"}\n".utf8) + [0x00, 0x0A, 0xFE], to: "games.ndjson")
      let listing = try await DirectorySource(directory: directory.path).listing(limit: 1)
      #expect(listing.keys == ["a"])
      #expect(listing.malformed.map(\.location) == [1, 3, 4].map { "games.ndjson, line \($0)" })
    }
  }

  @Test(arguments: [5, 64, 1000, 5000], [8, 300, 100_000])
  func keepsTheBeginningOfALineThatIsTooLong(_ over: Int, _ blockBytes: Int) async throws {
    let limit = 100
    let long = "{\"id\":\"" + String(repeating: "x", count: limit + over - 9) + "\"}"
    let atTheLimit = "{\"id\":\"" + String(repeating: "y", count: limit - 9) + "\"}"
    try await withTemporaryDirectory { directory in
      for text in ["{\"id\":\"a\"}\n\(long)\n\(atTheLimit)\n", "{\"id\":\"a\"}\n\(atTheLimit)\n\(long)"] {
        try directory.write(text, to: "games.ndjson")
        let source = try DirectorySource(
          directory: directory.path, identity: nil,
          limits: .init(blockBytes: blockBytes, lineBytes: limit, prefixBytes: 20), executor: .inline)
        let listing = try await source.listing(limit: 1)
        #expect(listing.keys == ["a", String(repeating: "y", count: limit - 9)])
        #expect(listing.malformed.count == 1)
        #expect(listing.malformed.first.map { Array($0.bytes.bytes) } == Array(long.utf8.prefix(20)))
        #expect(listing.malformed.first?.reason.contains("\(limit + over) bytes") == true)
        #expect(listing.token != nil)
      }
    }
  }

  @Test(arguments: [1, 5, 64, 4096])
  func cutsPagesShortRatherThanHoldingTooMuch(_ blockBytes: Int) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(
        lines(1...50, padding: 100) + String(repeating: "\n", count: 1000), to: "games.ndjson")
      let source = try DirectorySource(
        directory: directory.path, identity: nil, limits: .init(blockBytes: blockBytes, pageBytes: 300),
        executor: .inline)
      let listing = try await source.listing()
      #expect(listing.keys == (1...50).map { "g\($0)" })
      #expect(listing.pages.allSatisfy { $0.changes.count <= 3 })
      #expect(Set(listing.pages.compactMap(next)).count == listing.pages.count - 1)
      #expect(listing.token != nil)
    }
  }

  @Test func readsTypesBesideEachOther() async throws {
    try await withTemporaryDirectory { directory in
      let types = (1...8).map { Entity(RecordType("type\($0)")) }
      for (index, type) in types.enumerated() {
        try directory.write(lines(1...(index + 1) * 10), to: "\(type.type).ndjson")
      }
      let source = try DirectorySource(directory: directory.path)
      let counts = try await withThrowingTaskGroup(of: (Int, Int).self) { group in
        for (index, type) in types.enumerated() {
          group.addTask { (index, try await source.listing(of: type, limit: 3).changes.count) }
        }
        return try await group.reduce(into: [Int: Int]()) { $0[$1.0] = $1.1 }
      }
      #expect(counts.sorted { $0.key < $1.key }.map(\.value) == (1...8).map { $0 * 10 })
    }
  }
}
