#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import Testing

  @Suite("What sync-mirror is called with", .timeLimit(.minutes(10)))
  struct MirrorUsageTests {
    private static let server = ["--server", "http://127.0.0.1:1/v1", "--bucket", "b", "--store", "s.sqlite"]

    @Test(arguments: [
      ["--bucket", "b", "--store", "s"], ["--server", "http://127.0.0.1:1/v1", "--store", "s"],
      server + ["--page-size", "0"], server + ["--page-size", "10001"], server + ["--auth", "hunter2"],
      server + ["--watch", "--dry-run"], server + ["--poll-min", "9", "--poll-max", "3"],
      server + ["--no-such-option"], server + ["--json-log"], server + ["--time-zone", "Europe/Berlin"],
      server + ["--dry-run", "--metrics-file", "m.prom"],
    ])
    func mistakesAreToldAndNothingIsDone(_ options: [String]) async throws {
      try await withFolder { folder in
        let outcome = try await Tool(name: "sync-mirror").start(options, in: folder.url).outcome()
        #expect(outcome.status == 2)
        #expect(outcome.errors.hasPrefix("sync-mirror: "))
        #expect(!outcome.errors.contains("hunter2"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
      }
    }

    @Test func plainHTTPToAnotherMachineHasToBeAllowed() async throws {
      try await withFolder { folder in
        let outcome = try await Tool(name: "sync-mirror").run(
          "--server", "http://settings.invalid/v1", "--bucket", "b", "--store", "s.sqlite", in: folder.url)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("not encrypted"))
      }
    }

    @Test func aPaceIsSlowWithoutChangesAndQuickAfterOne() {
      var pace = PollPace(from: .seconds(1), to: .seconds(5))
      let idle = (1...5).map { _ in pace.pause(afterChange: false) }
      #expect(idle == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5)])
      #expect(pace.pause(afterChange: true) == .seconds(1))
      #expect(pace.pause(afterChange: false) == .seconds(2))
      let busy = SyncError(.remoteUnavailable, during: "asking", retryAfter: .seconds(60))
      #expect(pace.pause(after: busy) == .seconds(60))
      #expect(pace.pause(after: SyncError(.remoteUnavailable, during: "asking")) == .seconds(5))
    }
  }
#endif
