#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncPages
  @testable import CanonicalSyncInspect
  import CanonicalSyncToolSupport
  import Foundation
  import InMemoryAdapters
  import Testing

  @Suite("The page of a report", .timeLimit(.minutes(10)))
  struct ReportPageTests {
    private static let now = Timestamp(milliseconds: 1_790_000_000_000)

    private func model(
      text: String = "North & South", showsContents: Bool = false
    ) async throws -> ReportModel {
      var troubled = TroubledStore(now: Self.now)
      troubled.text = text
      let store = InMemoryStore()
      try await troubled.fill(store)
      return try await ReportModel.gather(
        from: store, at: "schedule.db", now: Self.now, showsContents: showsContents)
    }

    private func page(text: String = "North & South", showsContents: Bool = false) async throws -> String {
      ReportPage(model: try await model(text: text, showsContents: showsContents)).markup
    }

    @Test func saysAtFirstWhatIsWrongAndWhenItIsTriedAgain() async throws {
      let page = try await page()
      #expect(page.hasPrefix(WebPage.beginning(of: ReportPage.kind)))
      #expect(page.contains("<h1>1 of 3 types failed.</h1>"))
      #expect(page.contains("<header class=\"bad\">"))
      #expect(page.contains("games failed 24 times: The remote answered 503"))
      #expect(page.contains("<p>The least fresh type is games: up to date 2 h ago.</p>"))
      let retry = "<td>not before <time datetime=\"2026-09-21T14:19:00Z\">2026-09-21 14:19:00</time>"
      #expect(page.contains(retry + " (in 5 min)</td>"))
      #expect(page.contains("and finished, with 1 type that failed."))
      #expect(page.contains("<td>number 977, 250 of 400 fetched</td>"), "an interrupted pass")
      #expect(page.contains("<td>due</td>"), "a sweep")
    }

    @Test func saysWhatToDoAndLinksToItsOwnParts() async throws {
      let page = try await page()
      #expect(page.contains("2026-09-21T14:19:00Z. What to do: wait; syncs try again with growing pauses."))
      #expect(page.contains("1 record waits for one that it refers to: see"))
      let details = try #require(page.firstMatch(of: #/<p>The details: (.*)\.<\/p>/#)?.1)
      for anchor in ["types", "outbox", "quarantine"] {
        #expect(details.contains(##"<a href="#\##(anchor)">\##(anchor.capitalized)</a>"##), "\(anchor)")
      }
      #expect(page.contains(", synced from <code>test</code>."))
    }

    @Test func hasARemedyForEachErrorOfTheGuide() throws {
      let guide = URL(filePath: #filePath).appending(path: "../../../../Docs/CalledAtNight.md").standardized
      let codes = try String(contentsOf: guide, encoding: .utf8).matches(of: #/(?m)^\| `([a-z]\w+)` \|/#)
        .map { String($0.1) }
      #expect(codes.count > 20 && Set(codes) == Set(Remedy.all.map(\.code.description)))
    }

    @Test func labelsItsCellsForANarrowScreen() async throws {
      let page = try await page()
      #expect(page.contains("--c1:'type';--c2:'error';--c3:'failures in a row';"))
      #expect(page.contains(".rows td:nth-child(2)::before { content: var(--c2); }"))
    }

    @Test func saysThatAllIsWell() {
      var model = ReportModel(place: "a", identity: "b", writtenAt: Self.now, showsContents: false)
      #expect(ReportPage(model: model).markup.contains("<h1>The store has no types yet"))
      model.place = "<script>"
      let page = ReportPage(model: model).markup
      #expect(page.contains("&lt;script&gt;") && !page.contains("<script>"))
      for empty in [
        "The store has no history yet", "No edit waits", "No edit has met", "Nothing is quarantined",
      ] {
        #expect(page.contains(empty))
      }
    }

    @Test func saysWhatWaitsBelowTheHeadline() async throws {
      var model = try await model()
      model.types.removeAll { $0.type == "games" }
      let page = ReportPage(model: model).markup
      #expect(page.contains("<h1>Mostly well: all 2 types were up to date 2 min ago.</h1>"))
      #expect(page.contains("<header class=\"warning\">"))
      #expect(
        page.contains("<li>1 edit was refused: see <code>sync-inspect outbox</code>.</li>"))
      model.types.removeAll { $0.type == "settings" }
      #expect(ReportPage(model: model).markup.contains("<h1>All is well: "))
    }

    /// A store of one type that was up to date some time ago.
    private func evidence(age: Duration, syncs: [Duration] = []) async throws -> StoreVerdict.Evidence {
      var types = try await model().types.filter { $0.type == "teams" }
      types[0].passes.lastSuccess = Self.now - age
      types[0].dataAge = age
      let past = syncs.enumerated().map { index, age in
        var sync = PastSync(
          number: Int64(100 - index), fence: 1, triggers: ["request"], began: Self.now - age)
        sync.outcome = .finished
        return sync
      }
      return StoreVerdict.Evidence(types: types, syncs: past, now: Self.now)
    }

    @Test func callsNoStoreWellThatIsOld() async throws {
      let year = try await evidence(age: .seconds(300 * 86_400))
      let verdict = StoreVerdict(year)
      #expect(verdict.ink == .bad && verdict.sentence.hasPrefix("The data are old"))
      #expect(verdict.advice.first?.hasPrefix("teams was up to date 300 d ago") == true)
      // Every ten minutes is usual, so five hours are too long; every day is usual, so they are not.
      let (minutes, days) = (
        [0, 600, 1200, 1800].map(Duration.seconds), [0, 86_400, 172_800].map(Duration.seconds)
      )
      #expect(StoreVerdict(try await evidence(age: .seconds(18_000), syncs: minutes)).ink == .bad)
      #expect(StoreVerdict(try await evidence(age: .seconds(18_000), syncs: days)).ink == .good)
      var told = try await evidence(age: .seconds(18_000), syncs: days)
      told.staleAfter = .seconds(60)
      #expect(StoreVerdict(told).ink == .bad)
    }

    @Test func judgesOldEditsMovesDamageAndASyncThatRuns() async throws {
      var old = try await evidence(age: .seconds(60))
      (old.types[0].pending, old.types[0].waiting) = (2, [.push: 2])
      old.types[0].outboxAge = .seconds(90_000)
      #expect(StoreVerdict(old).ink == .warning)
      #expect(
        StoreVerdict(old).advice.first?.hasPrefix("2 edits wait to be pushed, the oldest for 1 d") == true)
      old.types[0].outboxAge = .seconds(90)
      #expect(StoreVerdict(old).ink == .good)
      var moved = try await evidence(age: .seconds(60))
      moved.movedTo = "new.db"
      #expect(StoreVerdict(moved).ink == .bad && StoreVerdict(moved).sentence.contains("moved to new.db"))
      var damaged = try await evidence(age: .seconds(60), syncs: [.seconds(60)])
      damaged.syncs[0].outcome = .failed
      damaged.syncs[0].failure = PassOutcomes.Failure(code: "storeUnreadable", message: "A page is torn.")
      #expect(StoreVerdict(damaged).ink == .bad)
      #expect(StoreVerdict(damaged).advice.first?.contains("sync-inspect verify") == true)
      var running = try await evidence(age: .seconds(60), syncs: [.seconds(5)])
      running.syncs[0].outcome = .running
      #expect(StoreVerdict(running).sentence.hasSuffix("; a sync began 5 s ago."))
      running.syncs[0].began = Self.now - .seconds(500_000)
      #expect(StoreVerdict(running).ink == .warning)
      var killed = try await evidence(age: .seconds(5), syncs: [.seconds(5), .seconds(65)])
      #expect(StoreVerdict(killed).sentence == "All is well: the one type was up to date 5 s ago.")
      killed.syncs[1].outcome = .killed
      #expect(StoreVerdict(killed).headline == "Mostly well: the one type was up to date 5 s ago.")
      #expect(
        StoreVerdict(killed).advice.first?.hasPrefix("Sync 99, which began 1 min ago, was killed") == true)
    }

    @Test func groupsWhatWaitsByWhatItWaitsFor() async throws {
      let waiting = try await model().waiting
      #expect(waiting.count == 1 && waiting.groups.map(\.missing.description) == ["teams/LAN"])
      #expect(waiting.groups.first?.cause == .notReceived)
      #expect(try await page().contains("<th scope=\"row\">teams/LAN</th><td>was never received</td>"))
    }

    @Test(arguments: [
      (0.0, "0"), (0.0004, "< 0.001"), (0.0126, "0.013"), (1, "1"), (2.345, "2.35"), (23.45, "23.5"),
      (1234.5, "1,235"), (.infinity, "?"),
    ])
    func spellsNumbersWithThreeDigits(_ number: Double, _ text: String) {
      #expect(number.brief == text)
    }

    @Test func tellsOfAFailureThatReachedNoType() async throws {
      var types = try await model().types
      types.removeAll { $0.passes.lastError != nil }
      var sync = PastSync(number: 7, fence: 7, triggers: ["request"], began: Self.now - .seconds(60))
      sync.outcome = .failed
      sync.failure = PassOutcomes.Failure(
        code: "authentication", message: "The key was refused.", retryAt: Self.now + .seconds(60))
      let verdict = StoreVerdict(.init(types: types, syncs: [sync], now: Self.now))
      #expect(verdict.sentence == "The last sync failed." && verdict.ink == .bad)
      #expect(verdict.advice.first?.hasPrefix("sync 7 failed as a whole: The key was refused; not") == true)
    }

    @Test(arguments: [
      "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)", "&lt;b&gt;",
      "</style><b>", "`<b>`",
    ])
    func letsNoTextFromOutsideBecomeMarkup(_ text: String) async throws {
      let plain = try await page(text: "x", showsContents: true)
      let hostile = try await page(text: text, showsContents: true)
      // The same elements and attributes are there, whatever the texts are.
      func elements(_ page: String) -> [Substring] {
        page.matches(of: #/<[^>]*>/#).map(\.output).filter { $0 != "<code>" && $0 != "</code>" }
      }
      #expect(elements(hostile) == elements(plain))
      #expect(!hostile.contains(text))
    }

    @Test func escapesForContentAndAttributesAlike() {
      let text = "<a b=\"c\" d='e'>&amp;"
      let piece: HTML = "<p title=\"\(text)\">\(1234) \(Counted(1, "a"))\("<b>" as HTML)</p>"
      let escaped = "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;"
      #expect(piece.markup == "<p title=\"\(escaped)\">1,234 1 a<b></p>")
    }

    @Test func spellsControlCharactersOut() async throws {
      let page = try await page(text: "a\u{202E}b\u{0}\u{1B}", showsContents: true)
      #expect(page.contains(#"a\u{202e}b\u{0}\u{1b}"#))
      #expect(!page.unicodeScalars.contains("\u{202E}") && !page.unicodeScalars.contains("\u{0}"))
    }

    @Test func hasContentsOnlyOnRequest() async throws {
      let (without, with) = (
        try await page(text: "Hidden"), try await page(text: "Hidden", showsContents: true)
      )
      // Members are named, because they belong to the type's declaration.
      #expect(without.contains("<th scope=\"row\">colour</th>"))
      for content in ["&quot;red&quot;", "&quot;secret&quot;", "&quot;Bees&quot;", "<pre>"] {
        #expect(with.contains(content), "\(content)")
        #expect(!without.contains(content), "\(content)")
      }
      #expect(!without.contains("&quot;"))
    }

    @Test func setsTheSidesOfAConflictSideBySide() async throws {
      let conflict = try #require(try await model().conflicts.shown.first)
      let sides = ConflictSides(conflict)
      // 1 and 1.0 are the same number, and the city is the same.
      #expect(sides.rows.map(\.name) == ["colour", "floor", "name"] && sides.equal == 1)
      #expect(sides.rows[0].local.isChanged && sides.rows[0].remote.value == nil)
      #expect(!sides.rows[1].local.isChanged && sides.rows[1].remote.isChanged)
      var deleted = conflict
      deleted.remote = .tombstone(Tombstone(id: conflict.id, version: .unversioned))
      let absent = ConflictSides(deleted).rows
      #expect(absent.map(\.name) == ["city", "colour", "floor", "name"])
      #expect(absent.allSatisfy { $0.remote.value == nil && $0.remote.isChanged == ($0.name != "colour") })
      deleted.local.content = .upsert(Payload(Array("[1]".utf8)), schemaVersion: 1)
      #expect(ConflictSides(deleted).rows.first?.local.value == "[1]", "a record that is no object")
    }

    /// Stores compare names by their bytes, and so does the page.
    @Test func tellsNamesApartThatLookTheSame() async throws {
      var conflict = try #require(try await model().conflicts.shown.first)
      let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
      let payload = Payload(Array(#"{"\#(composed)":1,"\#(decomposed)":2}"#.utf8))
      conflict.base = nil
      conflict.local.content = .upsert(payload, schemaVersion: 1)
      conflict.remote = .tombstone(Tombstone(id: conflict.id, version: .unversioned))
      let rows = ConflictSides(conflict).rows
      #expect(rows.map { Array($0.name.rawValue.utf8) } == [Array(decomposed.utf8), Array(composed.utf8)])
      #expect(rows.map(\.local.value) == ["2", "1"])
    }

    @Test func showsTheOldestEditsFirst() async throws {
      let page = try await page()
      let order = ["theme", "language", "North &amp; South</th>"].compactMap {
        page.range(of: "settings/\($0)")?.lowerBound
      }
      #expect(order.count == 3 && order == order.sorted())
      #expect(page.contains("3 edits, the oldest first: 1 not sent yet, 1 postponed, 1 refused."))
    }

    @Test func boundsEachListAndSaysHowManyMoreThereAre() async throws {
      var model = try await model(showsContents: true)
      let (edit, entry) = (try #require(model.edits.shown.first), try #require(model.quarantine.shown.first))
      let (conflict, type) = (try #require(model.conflicts.shown.first), try #require(model.types.last))
      model.edits = Excerpt(Array(repeating: edit, count: 100), of: 1_234)
      model.quarantine = Excerpt(Array(repeating: entry, count: 100), of: 100)
      model.conflicts = Excerpt(first: 50, ofRead: Array(repeating: conflict, count: 51))
      model.types = Array(repeating: type, count: 5_000)
      let page = ReportPage(model: model).markup
      #expect(page.contains("1,134 more are left out: <code>sync-inspect outbox</code>"))
      #expect(page.contains("More are left out: <code>sync-inspect conflicts --limit N</code>"))
      #expect(!page.contains("left out: <code>sync-inspect quarantine</code>"))
      #expect(page.contains("more are left out: <code>sync-inspect status</code>"))
      #expect(page.utf8.count < 2_000_000)
    }

    @Test func staysSmallWithTextsOfAnyLength() async throws {
      // Each of these scalars has six bytes in the page, and all of them are one character.
      var model = try await model(
        text: "\"" + String(repeating: "\u{301}", count: 100) + String(repeating: "\"", count: 20_000),
        showsContents: true)
      model.syncs = model.syncs.map { sync in
        var sync = sync
        sync.typeFailures = (0..<50).map { _ in
          .init("games", .init(code: "x", message: String(repeating: "<", count: 10_000)))
        }
        return sync
      }
      let page = ReportPage(model: model).markup
      #expect(page.utf8.count < 2_000_000, "\(page.utf8.count)")
      #expect(page.contains("more are left out: <code>sync-inspect history --limit 1000</code>"))
    }

    @Test func drawsWhateverNumbersTheStoreHas() async throws {
      var model = try await model()
      let odd: [Double] = [.nan, .infinity, -.infinity, -1, 0, .leastNonzeroMagnitude, 1e300]
      for (index, seconds) in odd.enumerated() { model.syncs[index].seconds = seconds }
      model.syncs[8] = PastSync(
        number: .max, fence: .min, triggers: [], began: Timestamp(microseconds: .min))
      model.syncs[9] = PastSync(
        number: .min, fence: .max, triggers: [], began: Timestamp(microseconds: .max))
      model.syncs[10].bytes = .min
      let page = ReportPage(model: model).markup
      #expect(!page.contains("nan") && page.contains("</html>"))
      let alone = SyncCharts(Array(model.syncs.suffix(1)))
      #expect(alone.outcomes.markup.contains("M500.0 60V100") && alone.speed != nil)
      #expect(SyncCharts([]).speed == nil && SyncCharts([]).outcomes.markup == "")
    }
  }
#endif
