#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters
  import Testing

  @Suite("sync-inspect report", .timeLimit(.minutes(10)))
  struct SyncInspectReportTests {
    private let tool = Tool(name: "sync-inspect")

    /// Creates a store with trouble of every kind.
    private func withStore(_ body: (Folder, String) async throws -> Void) async throws {
      try await withFolder { folder in
        let path = folder.path("store.db")
        let store = try await SQLiteStore.open(path: path)
        try await TroubledStore().fill(store)
        await store.close()
        try await body(folder, path)
      }
    }

    @Test func writesAPageAndReplacesAnEarlierOne() async throws {
      try await withStore { folder, path in
        let file = folder.path("report.html")
        let outcome = try await tool.run("report", "--store", path, "--out", file)
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.lines.first == "1 of 3 types failed.")
        let page = try String(contentsOfFile: file, encoding: .utf8)
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(page.contains(path) && !page.contains("secret") && page.utf8.count < 2_000_000)
        let again = try await tool.run("report", "--store", path, "--out", file, "--contents", "--json")
        #expect(try again.json["report"] as? String == file)
        #expect(try again.json["verdict"] as? String == "1 of 3 types failed.")
        let replaced = try Data(contentsOf: URL(filePath: file))
        #expect(try again.json["bytes"] as? Int == replaced.count)
        #expect(String(decoding: replaced, as: UTF8.self).contains("secret"))
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600, "contents are for the owner alone")
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(files.filter { $0.hasPrefix("report.html") } == ["report.html"], "no draft is left")
      }
    }

    @Test func writesToStandardOutput() async throws {
      try await withStore { folder, path in
        let outcome = try await tool.run("report", "--store", path, "--out", "-")
        #expect(outcome.status == 0 && outcome.errors == "" && outcome.output.hasSuffix("</html>\n"))
        let refused = try await tool.run("report", "--store", path, "--out", "-", "--json")
        #expect(
          refused.status == 2 && refused.output.hasPrefix("{\"error\":\"usage\"")
            && refused.errors.contains("--json"))
        #expect(try await tool.run("report", "--store", path).status == 2)
      }
    }

    @Test func leavesEveryOtherFileAlone() async throws {
      try await withStore { folder, path in
        let before = try Data(contentsOf: URL(filePath: path))
        try folder.write("page.html", ["<!DOCTYPE html>", "<html></html>"])
        // An empty file may be the log of a store that is in use.
        try folder.write("other.db-wal", [])
        for file in [
          path, folder.path("page.html"), folder.path("other.db-wal"), folder.url.path, "/dev/null",
        ] {
          let outcome = try await tool.run("report", "--store", path, "--out", file)
          #expect(outcome.status == 1 && outcome.output == "", "\(file)")
          #expect(outcome.errors.contains("is no report"), "\(outcome.errors)")
        }
        #expect(try Data(contentsOf: URL(filePath: path)) == before)
        let nowhere = try await tool.run("report", "--store", path, "--out", folder.path("no/report.html"))
        #expect(nowhere.status == 1 && nowhere.errors.contains("No such file or directory"))
        let missing = try await tool.run("report", "--store", path + "2", "--out", folder.path("r.html"))
        #expect(missing.status == 1 && !FileManager.default.fileExists(atPath: folder.path("r.html")))
      }
    }

    @Test func keepsALinkAndReplacesItsTarget() async throws {
      try await withStore { folder, path in
        #expect(try await tool.run("report", "--store", path, "--out", folder.path("old.html")).status == 0)
        try FileManager.default.createSymbolicLink(
          atPath: folder.path("link.html"), withDestinationPath: folder.path("old.html"))
        #expect(try await tool.run("report", "--store", path, "--out", folder.path("link.html")).status == 0)
        let target = try FileManager.default.destinationOfSymbolicLink(atPath: folder.path("link.html"))
        #expect(target == folder.path("old.html"))
        #expect(try String(contentsOfFile: target, encoding: .utf8).hasPrefix("<!DOCTYPE html>"))
      }
    }

    @Test func keepsTheEarlierReportWhereTheDiskIsFull() async throws {
      try await withStore { folder, path in
        let file = folder.path("report.html")
        #expect(try await tool.run("report", "--store", path, "--out", file).status == 0)
        let before = try Data(contentsOf: URL(filePath: file))
        // A file may have 100 kB, which is less than the page.
        let line = #"ulimit -f 200; "$TOOL" report --store "$STORE" --out "$FILE""#
        let outcome = try await RunningTool(
          executable: URL(filePath: "/bin/sh"), ["-c", line], in: nil,
          environment: ["TOOL": tool.executable.path, "STORE": path, "FILE": file]
        ).outcome()
        #expect(outcome.status == 1 && outcome.errors.contains("report.html cannot be written"), "\(outcome)")
        #expect(try Data(contentsOf: URL(filePath: file)) == before)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(files.filter { $0.hasPrefix("report.html") } == ["report.html"], "no draft is left")
      }
    }

    #if Postgres
      private static let database = ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"]

      @Test(.enabled(if: database != nil)) func readsADatabase() async throws {
        try await withFolder { folder in
          let place = "\(Self.database ?? "")?schema=report_\(UUID().uuidString.lowercased().prefix(8))"
          let opened = try await OpenedStore.open(place)
          try await TroubledStore().fill(opened.store)
          await opened.close()
          let file = folder.path("report.html")
          let outcome = try await tool.run("report", "--store", place, "--out", file)
          #expect(outcome.status == 0 && outcome.lines.first == "1 of 3 types failed.", "\(outcome)")
          let page = try String(contentsOfFile: file, encoding: .utf8)
          #expect(page.contains("3 edits, the oldest first") && page.contains("The 990 syncs before"))
        }
      }
    #endif

    @Test func readsAStoreThatIsInUse() async throws {
      try await withStore { folder, path in
        let store = try await SQLiteStore.open(path: path)
        let lease = try await store.acquireLease(for: .seconds(60))
        // A sync that was just begun, and whose process will never note its end.
        try await store.write(.lease(lease)) { (transaction) throws(SyncError) in
          let sync = PastSync(
            number: 1001, fence: 1001, triggers: ["launch"], began: ContinuousClock().timestamp)
          try transaction.setValue(sync.json, forKey: "history/1")
        }
        let outcome = try await tool.run("report", "--store", path, "--out", "-")
        #expect(outcome.status == 0 && outcome.output.contains("The latest sync, number 1,001, began"))
        #expect(outcome.output.contains("has not ended: it runs, or its process was killed."))
        await store.close()
      }
    }

    @Test func readsAnEmptyStore() async throws {
      try await withFolder { folder in
        let path = folder.path("store.db")
        await (try await SQLiteStore.open(path: path)).close()
        let outcome = try await tool.run("report", "--store", path, "--out", "-")
        #expect(outcome.status == 0 && outcome.output.contains("The store has no types yet"))
      }
    }
  }
#endif
