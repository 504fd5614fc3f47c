#if SQLite && os(Linux)
  import Foundation
  import Testing

  /// The kernel's messages, the monitor and the triggered syncs, on a changing network.
  @Suite(
    "A network that comes and goes", .serialized, .timeLimit(.minutes(10)),
    .enabled("Network namespaces are not permitted here.") { await NetworkNamespace.isPermitted() })
  struct NetworkNamespaceTests {
    let daemon = Tool(name: "sync-daemon")

    /// The time for which a returned network has to stay, in seconds.
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

    /// Changes the network, and waits for the report.
    private func change(
      _ running: RunningTool, to state: String, _ change: () async throws -> Void
    ) async throws {
      let start = running.lines.count
      try await change()
      await running.waitForLines(after: start) { $0.event == "network" && $0["is"] == state }
    }

    /// Waits until a sync follows the network's last return.
    private func waitUntilTrusted(_ running: RunningTool) async {
      await running.waitForErrors { log in
        let lines = log.daemonLines
        let isBack = lines.lastIndex { $0.event == "network" && $0["is"] == "online" }
        return isBack.map { lines[$0...].contains { $0.starts(for: "connectivity-restored") } } ?? false
      }
    }

    @Test func startsOneSyncAfterItsLastReturnHoweverOftenItFlaps() async throws {
      let lines = try await withDaemon { namespace, running in
        for _ in 0..<4 {
          try await change(running, to: "offline") {
            try await namespace.inside("link", "set", "far", "down")
          }
          try await change(running, to: "online") { try await namespace.inside("link", "set", "far", "up") }
        }
        await waitUntilTrusted(running)
        try await change(running, to: "offline") {
          try await namespace.inside("link", "set", "near", "down")
        }
        try await change(running, to: "online") {
          // The kernel has dropped the route without a message, so the link alone is not enough.
          try await namespace.inside("link", "set", "near", "up")
          try await namespace.addRoute()
        }
        await waitUntilTrusted(running)
      }
      let networks = lines.filter { $0.event == "network" }
      #expect(
        networks.drop { $0["is"] == "unknown" }.allSatisfy { $0["is"] == "offline" || $0["over"] == "wired" })
      // Every change was reported once, and no other.
      let reports = ["online"] + Array(repeating: ["offline", "online"], count: 5).flatMap(\.self)
      #expect(networks.map { $0["is"] }.filter { $0 != "unknown" } == reports)
      try checkReturns(lines)
    }

    /// Checks the syncs after each return of the network.
    ///
    /// A return that is lost again in time has no sync. Others have at most one, and a lasting
    /// return has exactly one. On a busy machine, the test itself may let a return last longer than
    /// the daemon waits. The log's timestamps are slightly later than the events. A test with a
    /// manual clock checks the exact wait.
    private func checkReturns(_ lines: [DaemonLine]) throws {
      let changes = lines.indices.filter { lines[$0].event == "network" && lines[$0]["is"] != "unknown" }
      var followed = 0
      for (position, back) in changes.enumerated().dropFirst() where lines[back]["is"] == "online" {
        let lostAgain = changes.dropFirst(position + 1).first
        let starts = lines[back..<(lostAgain ?? lines.endIndex)].filter {
          $0.starts(for: "connectivity-restored")
        }
        #expect(starts.count <= 1)
        if let start = starts.first { #expect(start.time - lines[back].time > Self.settleTime - 1) }
        if let lostAgain, lines[lostAgain].time - lines[back].time < Self.settleTime - 1 {
          #expect(starts.isEmpty)
        }
        followed += starts.count
        // The test waited after the last flap, and after the final return.
        if position == 8 || position == 10 { #expect(starts.count == 1) }
      }
      #expect(lines.count { $0.starts(for: "connectivity-restored") } == followed)
      #expect(lines.count { $0.event == "sync.started" && !$0.starts(for: "launch") } == followed)
    }

    @Test func isAwayWithoutAnAddressAndWithoutARoute() async throws {
      let lines = try await withDaemon { namespace, running in
        try await change(running, to: "offline") { try await namespace.inside("route", "delete", "default") }
        try await change(running, to: "online") { try await namespace.addRoute() }
        // The route is removed with the address, without a message.
        try await change(running, to: "offline") {
          try await namespace.inside("address", "flush", "dev", "near")
        }
        try await change(running, to: "online") {
          try await namespace.inside("address", "add", "10.99.0.3/24", "dev", "near")
          try await namespace.addRoute()
        }
        try await change(running, to: "offline") { try await namespace.inside("link", "delete", "near") }
      }
      #expect(
        lines.filter { $0.event == "network" }.map { $0["is"] }.filter { $0 != "unknown" }
          == ["online", "offline", "online", "offline", "online", "offline"])
    }

    @Test func isKnownAsItIsAfterMoreMessagesThanTheKernelKeeps() async throws {
      let lines = try await withDaemon { namespace, running in
        try await change(running, to: "offline") {
          running.send(SIGSTOP)
          // More than the socket's buffer holds, so the last message is lost.
          try await withFile { file in
            try await namespace.inside(
              (0..<2000).map { "address add 10.98.\($0 / 250).\($0 % 250 + 1)/32 dev far" }, file: file)
          }
          try await namespace.inside("route", "delete", "default")
          running.send(SIGCONT)
        }
        try await change(running, to: "online") { try await namespace.addRoute() }
      }
      let states = lines.filter { $0.event == "network" }.map { $0["is"] }
      #expect(states.filter { $0 != "unknown" } == ["online", "offline", "online"])
    }

    private func withFile(_ body: (URL) async throws -> Void) async throws {
      let file = FileManager.default.temporaryDirectory.appending(path: "commands-\(UUID().uuidString)")
      defer { try? FileManager.default.removeItem(at: file) }
      try await body(file)
    }
  }
#endif
