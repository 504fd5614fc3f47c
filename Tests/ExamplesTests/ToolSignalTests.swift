#if SQLite
  import Foundation
  import Testing

  /// Signals of a terminal and of a pipe without a reader.
  @Suite("Tools and signals", .timeLimit(.minutes(10)))
  struct ToolSignalTests {
    /// A log whose reader is gone loses lines, and nothing else.
    @Test(arguments: [("schedule-sync", ["--log"]), ("sync-daemon", ["--once", "--log-pages"])])
    func aSyncOutlivesTheReaderOfItsLog(_ name: String, _ options: [String]) async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 10)
        let script = #"tool=$1; shift; "$tool" "$@" 2> >(exec true); echo "status $?""#
        let tool = Tool(name: name).executable.path
        let outcome = try await RunningTool(
          executable: URL(filePath: "/bin/bash"),
          [
            "-c", script, "bash", tool, "--store", folder.path("s"), "--data", folder.path("data"),
            "--latency-ms", "200",
          ] + options, in: nil
        ).outcome()
        #expect(outcome.output.hasSuffix("status 0\n"), "\(outcome.output)")
        let games = try await Tool(name: "sync-inspect").run(
          "export", "--store", folder.path("s"), "--type", "games")
        #expect(games.lines.count == 10)
      }
    }

    @Test func anExportStopsAtCtrlC() async throws {
      try await withFolder { folder in
        try folder.writeSchedule(games: 10_000)
        let store = folder.path("s")
        _ = try await Tool(name: "schedule-sync").run("--store", store, "--data", folder.path("data"))
        let pipe = folder.path("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        // This process reads one byte, and then nothing: the export waits for it.
        let reading = open(pipe, O_RDWR | O_CLOEXEC)
        defer { close(reading) }
        let running = try RunningTool(
          executable: URL(filePath: "/bin/bash"),
          ["-c", #"exec "$0" export --store "$1" --type games >"$2""#]
            + [Tool(name: "sync-inspect").executable.path, store, pipe], in: nil)
        await withCheckedContinuation { begun in
          Thread.detachNewThread {
            var byte: UInt8 = 0
            _ = read(reading, &byte, 1)
            begun.resume()
          }
        }
        running.send(SIGINT)
        let outcome = await running.outcome()
        #expect(outcome.status == 130 && !outcome.wasKilled)
      }
    }

    @Test func aStoryStopsAtCtrlCWithAnObject() async throws {
      try await withFolder { folder in
        let stores = folder.path("phones")
        let running = try Tool(name: "device-settings").start(["--stores", stores, "--json"])
        // The story begins when both devices have a store.
        await running.waitForFile(stores + "/b.sqlite") { running.send(SIGINT) }
        let outcome = await running.outcome()
        #expect(outcome.status == 130)
        #expect(outcome.output.hasSuffix("{\"wasCancelled\":true}\n"), "\(outcome.output)")
      }
    }
  }
#endif
