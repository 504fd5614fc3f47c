#if SQLite && os(Linux)
  import Foundation
  import Testing

  /// The kernel's messages, the monitor that hears them, and the syncs that follow, on a network that is taken apart.
  @Suite(
    "A network that comes and goes", .serialized, .timeLimit(.minutes(10)),
    .enabled(if: NetworkNamespace.isPermitted, "Network namespaces are not permitted here."))
  struct NetworkNamespaceTests {
    let daemon = Tool(name: "sync-daemon")

    /// How long a network that came back has to stay.
    static let settleTime = 2.5

    private func withDaemon(
      _ body: (NetworkNamespace, RunningTool) async throws -> Void
    ) async throws -> [DaemonLine] {
      try await withFolder { folder in
        try folder.writeSchedule(games: 10)
        return try await NetworkNamespace.with { namespace in
          let running = try namespace.start(
            daemon,
            [
              "--store", folder.path("s.sqlite"), "--data", folder.path("data"), "--interval", "86400",
              "--watch-network", "--json-log",
            ])
          await running.waitForLines { $0.event == "sync.finished" }
          await running.waitForLines { $0.event == "network" && $0["is"] == "online" }
          try await body(namespace, running)
          running.send(SIGTERM)
          let outcome = await running.outcome()
          #expect(outcome.status == 0, "\(outcome.errors)")
          return outcome.errors.daemonLines
        }
      }
    }

    /// Does something to the network, and waits for the report of it.
    private func change(
      _ running: RunningTool, to state: String, _ change: () throws -> Void
    ) async throws {
      let start = running.lines.count
      try change()
      await running.waitForLines(after: start) { $0.event == "network" && $0["is"] == state }
    }

    @Test func startsOneSyncAfterItsLastReturnHoweverOftenItFlaps() async throws {
      let lines = try await withDaemon { namespace, running in
        for _ in 0..<4 {
          try await change(running, to: "offline") { try namespace.inside("link", "set", "far", "down") }
          try await change(running, to: "online") { try namespace.inside("link", "set", "far", "up") }
        }
        await running.waitForLines { $0.starts(for: "connectivity-restored") }
        try await change(running, to: "offline") { try namespace.inside("link", "set", "near", "down") }
        try await change(running, to: "online") {
          // The kernel has dropped the route without a word, so the link alone does not help.
          try namespace.inside("link", "set", "near", "up")
          try namespace.addRoute()
        }
        let start = running.lines.count
        await running.waitForLines(after: start) {
          $0.event == "sync.finished" || $0.starts(for: "connectivity-restored")
        }
        await running.waitForLines(after: start) { $0.event == "sync.finished" }
      }
      let networks = lines.filter { $0.event == "network" }
      #expect(
        networks.drop { $0["is"] == "unknown" }.allSatisfy { $0["is"] == "offline" || $0["over"] == "wired" })
      // Every change was reported, and nothing else.
      let reports = ["online"] + Array(repeating: ["offline", "online"], count: 5).flatMap(\.self)
      #expect(networks.map { $0["is"] }.filter { $0 != "unknown" } == reports)
      // What was lost and came back, and stayed for long enough, is followed by one sync each.
      let expected = networks.indices.dropFirst().filter { index in
        networks[index]["is"] == "online" && networks[index - 1]["is"] == "offline"
          && (index + 1 == networks.endIndex
            || networks[index + 1].time - networks[index].time > Self.settleTime)
      }
      let starts = lines.filter { $0.starts(for: "connectivity-restored") }
      #expect(starts.count == expected.count)
      for (start, index) in zip(starts, expected) {
        let delay = start.time - networks[index].time
        #expect(delay > Self.settleTime - 0.05 && delay < Self.settleTime + 1, "\(delay)")
      }
      #expect(lines.count { $0.event == "sync.started" } == starts.count + 1)
    }

    @Test func isAwayWithoutAnAddressAndWithoutARoute() async throws {
      let lines = try await withDaemon { namespace, running in
        try await change(running, to: "offline") { try namespace.inside("route", "delete", "default") }
        try await change(running, to: "online") { try namespace.addRoute() }
        // The route goes with the address, without a word.
        try await change(running, to: "offline") { try namespace.inside("address", "flush", "dev", "near") }
        try await change(running, to: "online") {
          try namespace.inside("address", "add", "10.99.0.3/24", "dev", "near")
          try namespace.addRoute()
        }
        try await change(running, to: "offline") { try namespace.inside("link", "delete", "near") }
      }
      #expect(
        lines.filter { $0.event == "network" }.map { $0["is"] }.filter { $0 != "unknown" }
          == ["online", "offline", "online", "offline", "online", "offline"])
    }

    @Test func isKnownAsItIsAfterMoreMessagesThanTheKernelKeeps() async throws {
      let lines = try await withDaemon { namespace, running in
        try await change(running, to: "offline") {
          running.send(SIGSTOP)
          // Far more than fit into the socket's buffer, so the last one is lost.
          try withFile { file in
            try namespace.inside(
              (0..<2000).map { "address add 10.98.\($0 / 250).\($0 % 250 + 1)/32 dev far" }, file: file)
          }
          try namespace.inside("route", "delete", "default")
          running.send(SIGCONT)
        }
        try await change(running, to: "online") { try namespace.addRoute() }
      }
      let states = lines.filter { $0.event == "network" }.map { $0["is"] }
      #expect(states.filter { $0 != "unknown" } == ["online", "offline", "online"])
    }

    private func withFile(_ body: (URL) throws -> Void) throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "commands-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try body(file)
    }
  }
#endif
