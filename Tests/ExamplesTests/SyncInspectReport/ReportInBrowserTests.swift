#if SQLite
  import CanonicalSync
  @testable import CanonicalSyncInspect
  import Foundation
  import InMemoryAdapters
  import Testing

  /// Pages as headless Chromium shows them: `Tests/page-check` looks.
  @Suite("A report in a browser", .serialized, .timeLimit(.minutes(10)))
  struct ReportInBrowserTests {
    @Test(.enabled(if: PageCheck.hasBrowser, "Chromium or python3 is missing here"))
    func isReadableByEveryReader() async throws {
      let store = InMemoryStore()
      let troubled = TroubledStore(now: Timestamp(milliseconds: 1_790_000_000_000))
      try await troubled.fill(store)
      let model = try await ReportModel.gather(
        from: store, at: "/var/lib/schedule/schedule.sqlite", now: troubled.now, showsContents: true)
      let outcome = try await PageCheck.run(
        ReportPage(model: model).markup, drawnAs: "report")
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.output) \(outcome.errors)")
      #expect(try outcome.json["problems"] as? [String] == [])
      #expect(
        try outcome.json["headings"] as? [String] == [
          "1 of 3 types failed.", "What to do", "Types", "Syncs", "Throughput and latency", "Outbox",
          "Waiting records", "Conflicts", "Quarantine",
        ])
    }

    @Test(.enabled(if: PageCheck.hasBrowser, "Chromium or python3 is missing here"))
    func isReadableForAnEmptyStoreWithoutContents() async throws {
      let model = ReportModel(
        place: String(repeating: "long", count: 100), identity: "i",
        writtenAt: Timestamp(milliseconds: 1_790_000_000_000), showsContents: false)
      let outcome = try await PageCheck.run(ReportPage(model: model).markup)
      #expect(outcome.status == 0 && outcome.errors == "", "\(outcome.output) \(outcome.errors)")
    }

    /// A check that finds nothing in this page would find nothing in any.
    @Test(.enabled(if: PageCheck.hasBrowser, "Chromium or python3 is missing here"))
    func isFoundUnreadableWhereItIs() async throws {
      let outcome = try await PageCheck.run(
        """
        <!DOCTYPE html><html><head><title>a</title><style>a:focus { outline: none; }</style></head><body>
        <main><h1>a</h1><h3>b</h3><p style="color: #999">pale</p><div style="width: 1500px">wide</div>
        <a href="#none">nowhere</a><img src="http://127.0.0.1:9/a.png" alt="">
        <div style="overflow-x: auto; width: 9px">cut off</div><p id="x"></p><p id="x"></p></main>
        <svg role="img" style="background: #fff"><path d="M0 0H9" stroke="#eee"/></svg>
        <script>console.log("noise")</script></body></html>
        """)
      #expect(outcome.status == 1)
      for problem in [
        "names no language", "has scripts", "scrolls sideways", "a level is left out",
        "the id x occurs twice",
        "leads nowhere", "the keyboard cannot scroll", "the contrast of the text", "the contrast of the line",
        "0 landmarks of the role banner", "0 landmarks of the role navigation",
        "of the role image has no name",
        "the first Tab shows no link", "the focus on A  is not visible", "the console has: noise",
        "requests http://127.0.0.1:9/a.png",
      ] {
        #expect(outcome.output.contains(problem), "\(problem) in \(outcome.output)")
      }
    }
  }
#endif
