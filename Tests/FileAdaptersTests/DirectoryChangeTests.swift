import CanonicalSync
import SyncAdapters
import Testing

@testable import FileAdapters

@Suite("A directory whose files change", .timeLimit(.minutes(10)))
struct DirectoryChangeTests {
  private let changed = RecordPage.Continuation.reset(.contentChanged)

  @Test func listsNothingWhileTheContentIsTheSame() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...5), to: "games.ndjson")
      let token = try await DirectorySource(directory: directory.path).listing().token
      try directory.replace("games.ndjson", with: lines(1...5))
      let page = try await DirectorySource(directory: directory.path).page(.start(since: token))
      #expect(page.changes.isEmpty && page.coverage == .delta)
      #expect(page.next == .done(token))
    }
  }

  @Test func listsEverythingWhenAByteIsAnotherOne() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...5), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let first = try await source.listing()
      // The same size, the same time and the same `updated_at`: only the bytes differ.
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      try directory.write(
        lines(1...5).replacing("\"id\":\"g5\"", with: "\"id\":\"g6\""), to: "games.ndjson")
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      let second = try await source.listing(since: first.token, pass: 2)
      #expect(second.keys == ["g1", "g2", "g3", "g4", "g6"])
      #expect(second.pages[0].coverage == .full)
      #expect(second.token != first.token)
    }
  }

  @Test(arguments: [1, 2, 3, 4])
  func goesOnAfterARestartWhereItStopped(_ limit: Int) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("\u{FEFF}" + lines(1...5) + "\n\nnonsense", to: "games.ndjson")
      let whole = try await DirectorySource(directory: directory.path).listing(limit: limit)
      var pages: [RecordPage] = []
      var position = PullPosition.start(since: nil)
      repeat {
        let source = try DirectorySource(directory: directory.path)
        pages.append(try await source.page(position, limit: limit))
        guard let token = next(pages[pages.count - 1]) else { break }
        position = .resume(token)
      } while true
      #expect(pages == whole.pages)
      #expect(Listing(pages: pages).malformed.map(\.location) == ["games.ndjson, line 8"])
    }
  }

  @Test func answersARequestThatIsMadeAgainFromTheSamePlace() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...6), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let tokens = try await source.listing(limit: 1).pages.compactMap(next)
      for index in [0, 0, 1, 1, 0, 3, 2, 4, 4] {
        let page = try await source.page(.resume(tokens[index]), limit: 1)
        #expect(page.changes.compactMap { $0.id?.key } == ["g\(index + 2)"])
      }
    }
  }

  @Test func startsOverWhenTheContentIsAnotherOneAfterARestart() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...6), to: "games.ndjson")
      let page = try await DirectorySource(directory: directory.path).page(.start(since: nil), limit: 2)
      let token = try #require(next(page))
      try directory.replace("games.ndjson", with: lines(1...7))
      #expect(try await DirectorySource(directory: directory.path).page(.resume(token)).next == changed)
    }
  }

  @Test func readsTheFileItOpenedWhenAnotherOneTakesTheName() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...6), to: "games.ndjson")
      let source = try DirectorySource(
        directory: directory.path, identity: nil, limits: .init(blockBytes: 16), executor: .inline)
      let first = try await source.page(.start(since: nil), limit: 2)
      try directory.replace("games.ndjson", with: lines(11...16))
      let second = try await source.page(.resume(try #require(next(first))), limit: 2)
      try directory.remove("games.ndjson")
      let third = try await source.page(.resume(try #require(next(second))), limit: 2)
      let listing = Listing(pages: [first, second, third])
      #expect(listing.keys == (1...6).map { "g\($0)" })
      try directory.write(lines(11...16), to: "games.ndjson")
      #expect(try await source.listing(since: listing.token, pass: 2).keys == (11...16).map { "g\($0)" })
    }
  }

  @Test(arguments: [1, 2])
  func goesOnWhenTheFileIsOnlyWrittenAgain(_ limit: Int) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write("\u{FEFF}" + lines(1...6), to: "games.ndjson")
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      let source = try DirectorySource(directory: directory.path)
      var pages = [try await source.page(.start(since: nil), limit: limit)]
      while let token = next(pages[pages.count - 1]) {
        try directory.write("\u{FEFF}" + lines(1...6), to: "games.ndjson")
        try directory.setModified("games.ndjson", at: 1_700_000_000 + pages.count)
        pages.append(try await source.page(.resume(token), limit: limit))
      }
      #expect(Listing(pages: pages).keys == (1...6).map { "g\($0)" })
      #expect(Listing(pages: pages).token != nil)
    }
  }

  @Test(arguments: [lines(1...6) + "\n", lines(1...5), "", lines(1...5) + lines(7...7)])
  func startsOverWhenTheFileIsModifiedUnderThePass(_ text: String) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...6), to: "games.ndjson")
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      let source = try DirectorySource(directory: directory.path)
      let page = try await source.page(.start(since: nil), limit: 2)
      try directory.write(text, to: "games.ndjson")
      #expect(try await source.page(.resume(try #require(next(page)))).next == changed)
    }
  }

  @Test func noticesAtTheEndWhatSizeAndTimeDoNotTell() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...6), to: "games.ndjson")
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      let source = try DirectorySource(
        directory: directory.path, identity: nil, limits: .init(blockBytes: 16), executor: .inline)
      let page = try await source.page(.start(since: nil), limit: 2)
      try directory.write(lines(1...6).replacing("g6", with: "g7"), to: "games.ndjson")
      try directory.setModified("games.ndjson", at: 1_700_000_000)
      let second = try await source.page(.resume(try #require(next(page))), limit: 2)
      #expect(try await source.page(.resume(try #require(next(second))), limit: 2).next == changed)
    }
  }

  @Test(arguments: ["", "garbage", "1 2", "-1 0 x", "1 1 absent", "99999999999999999999 1 x"])
  func refusesPageTokensItNeverGave(_ text: String) async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      let page = try await DirectorySource(directory: directory.path).page(.resume(PageToken(text)))
      guard case .reset = page.next else {
        Issue.record("accepted as a token: \(page.next)")
        return
      }
    }
  }

  // The count of lines continues from there.
  @Test func refusesMoreLinesThanBytes() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let token = try #require(try await source.listing().token)
      let page = try await source.page(.resume(PageToken("0 9223372036854775807 \(token.rawValue)")))
      #expect(page.next == .reset(.pageTokenExpired))
    }
  }

  @Test func refusesAnOffsetPastTheEnd() async throws {
    try await withTemporaryDirectory { directory in
      try directory.write(lines(1...2), to: "games.ndjson")
      let source = try DirectorySource(directory: directory.path)
      let token = try #require(try await source.listing().token)
      let page = try await source.page(.resume(PageToken("1000000 3 \(token.rawValue)")))
      #expect(page.next == .reset(.pageTokenExpired))
    }
  }
}
