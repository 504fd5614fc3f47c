import SyncModels
import SyncPorts
import Synchronization

/// The begin of requests, and the course of the work.
enum SchedulerChecks {
  static func requestBeginsNoEarlierThanItSays(_ bench: SchedulerBench) async throws {
    let before = bench.harness.now()
    let earliest = try bench.submit(.refresh, after: .seconds(600))
    try expect(
      earliest >= before + .seconds(600) && earliest <= bench.harness.now() + .seconds(600),
      "Submitting returns the earliest begin, resolved.")
    try await bench.running {
      try await bench.pass(until: { !bench.begun.isEmpty }, "A request that comes due is begun.")
    }
    try expect(bench.begun.map(\.kind), equals: [.refresh], "A request is begun once.")
    try expect(bench.begun.allSatisfy { $0.at >= earliest }, "A request is never begun earlier than it says.")
  }

  static func requestIsTakenWhileItRuns(_ bench: SchedulerBench) async throws {
    try await bench.running {
      // A long request first, so that the scheduler sleeps when the short one arrives.
      await bench.letOthersRun()
      try bench.submit(.processing, after: .seconds(3600))
      await bench.letOthersRun()
      try bench.submit(.refresh, after: .seconds(60))
      try await bench.pass(
        until: { !bench.begun.isEmpty }, "A request that is submitted during the run is begun.")
      try expect(bench.begun.first?.kind, equals: .refresh, "What is due first is begun first.")
    }
  }

  static func laterRequestReplacesTheOneOfItsKind(_ bench: SchedulerBench) async throws {
    try bench.submit(.refresh, after: .seconds(60))
    let now = bench.harness.now()
    let earliest = try bench.submit(.refresh, after: .seconds(3600))
    try expect(earliest >= now + .seconds(3600), "Submitting returns the earliest begin, resolved.")
    try bench.submit(.processing, after: .seconds(7200))
    try await bench.running {
      let sentence = "A request is begun although another kind waits."
      try await bench.pass(until: { bench.begun.contains { $0.kind == .processing } }, sentence)
    }
    let refreshes = bench.begun.filter { $0.kind == .refresh }
    try expect(refreshes.count, equals: 1, "A request replaces the pending one of its kind.")
    try expect(
      refreshes.allSatisfy { $0.at >= earliest }, "A replaced request has no effect.")
  }

  static func kindsAreKeptApart(_ bench: SchedulerBench) async throws {
    try bench.submit(.refresh, after: .seconds(60))
    try bench.submit(.processing, after: .seconds(60))
    try await bench.running {
      let sentence = "A request of one kind leaves the other kind's alone."
      try await bench.pass(until: { bench.begun.count >= 2 }, sentence)
    }
    try expect(
      Set(bench.begun.map(\.kind)), equals: Set(BackgroundRequest.Kind.allCases),
      "Each kind's request is begun once.")
  }

  static func timeOfDayIsTheNextOne(_ bench: SchedulerBench) async throws {
    for hour in [0, 2, 12, 23] {
      let now = bench.harness.now()
      let request = BackgroundRequest(.processing, earliest: .next(TimeOfDay(hour: hour)))
      let earliest = try bench.harness.scheduler.submit(request)
      try expect(earliest > now, "A time of day is the next one, later than the moment of submitting.")
      // A day whose clocks are put back has an hour more.
      try expect(earliest <= now + .seconds(26 * 3600), "A time of day comes within a day.")
    }
  }

  static func workSubmitsTheNextOfItsKind(_ bench: SchedulerBench) async throws {
    try bench.submit(.refresh, after: .seconds(60))
    try await bench.running { kind, _ in
      if bench.begun.count < 3 { try bench.submit(kind, after: .seconds(60)) }
    } _: {
      let sentence = "A request that the work submits is kept, because its own was removed before."
      try await bench.pass(until: { bench.begun.count(where: \.isOver) >= 3 }, sentence)
    }
    let times = bench.begun.map(\.at)
    for (earlier, later) in zip(times, times.dropFirst()) {
      try expect(later >= earlier + .seconds(60), "A request is never begun earlier than it says.")
    }
  }

  static func oneKindRunsOnceAtATime(_ bench: SchedulerBench) async throws {
    let release = CancellationSource()
    let mostAtOnce = Mutex((now: 0, most: 0))
    try bench.submit(.refresh, after: .zero)
    try await bench.running { kind, _ in
      mostAtOnce.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
      if bench.begun.count == 1 {
        try bench.submit(kind, after: .zero)
        await release.waitUntilCancelled()
      }
      mostAtOnce.withLock { $0.now -= 1 }
    } _: {
      try await bench.pass(until: { !bench.begun.isEmpty }, "A request that is due is begun.")
      for _ in 0..<100 {
        bench.harness.pass(.seconds(10))
        await Task.yield()
      }
      release.cancel()
      try await bench.pass(
        until: { bench.begun.count >= 2 }, "The next of a kind is begun after the one before.")
    }
    try expect(
      mostAtOnce.withLock { $0.most }, equals: 1,
      "One kind's work is never called again before it has returned.")
  }

  static func networkIsWaitedForWhereItIsNeeded(_ bench: SchedulerBench) async throws {
    guard let setOnline = bench.harness.setOnline else {
      throw Inapplicable(reason: "The harness cannot make the network come and go.")
    }
    setOnline(false)
    try bench.submit(.processing, after: .seconds(60), needsNetwork: true)
    try await isWaitedFor("the network", bench) { setOnline(true) }
  }

  static func powerIsWaitedForWhereItIsNeeded(_ bench: SchedulerBench) async throws {
    guard let setPowered = bench.harness.setPowered else {
      throw Inapplicable(reason: "The harness cannot take the external power away.")
    }
    setPowered(false)
    try bench.submit(.processing, after: .seconds(60), needsExternalPower: true)
    try await isWaitedFor("external power", bench) { setPowered(true) }
  }

  /// Checks that processing, which needs something, waits for it, and that refreshing does not.
  private static func isWaitedFor(
    _ need: String, _ bench: SchedulerBench, bring: @Sendable () -> Void
  ) async throws {
    try bench.submit(.refresh, after: .seconds(120))
    try await bench.running { kind, _ in
      if kind == .refresh { try bench.submit(kind, after: .seconds(60)) }
    } _: {
      try await bench.pass(
        until: { bench.begun.count(where: { $0.kind == .refresh }) >= 3 },
        "Work that does not need \(need) does not wait for it.")
      try expect(
        !bench.begun.contains { $0.kind == .processing }, "Work that needs \(need) waits for it.")
      bring()
      try await bench.pass(
        until: { bench.begun.contains { $0.kind == .processing } },
        "Work is begun when there is \(need) again.")
    }
  }

  static func expirationCancelsAndIsWaitedFor(_ bench: SchedulerBench) async throws {
    guard let expire = bench.harness.expire else {
      throw Inapplicable(reason: "The harness cannot let the time run out.")
    }
    let (isTold, mayEnd) = (CancellationSource(), CancellationSource())
    try bench.submit(.refresh, after: .zero)
    try await bench.running { kind, token in
      guard !isTold.isCancelled else { return }
      try expect(!token.isCancelled, "Work begins with time to do it in.")
      expire()
      try expect(
        await Patience.lasts(until: { token.isCancelled }), "When the time is up, the token is cancelled.")
      try bench.submit(kind, after: .zero)
      isTold.cancel()
      await mayEnd.waitUntilCancelled()
    } _: {
      defer { mayEnd.cancel() }
      try await bench.pass(until: { isTold.isCancelled }, "When the time is up, the token is cancelled.")
      for _ in 0..<100 {
        bench.harness.pass(.seconds(10))
        await Task.yield()
      }
      let sentence = "Work whose time is up is waited for."
      try expect(bench.begun.count, equals: 1, "\(sentence) No other begins meanwhile.")
      try expect(bench.isRunning, "\(sentence) The run does not return meanwhile.")
      mayEnd.cancel()
      try await bench.pass(until: { bench.begun.contains(where: \.isOver) }, sentence)
    }
  }

  static func cancelledRunWaitsAndKeepsThePending(_ bench: SchedulerBench) async throws {
    let isStopped = Mutex(false)
    try bench.submit(.refresh, after: .zero)
    try await bench.running { kind, _ in
      try bench.submit(kind, after: .seconds(60))
      // The work sees the cancellation of its task, and still takes a while to end.
      _ = await Patience.lasts(until: { Task.isCancelled })
      for _ in 0..<100 { await Task.yield() }
      isStopped.withLock { $0 = true }
    } _: {
      try await bench.pass(until: { !bench.begun.isEmpty }, "A request that is due is begun.")
    }
    try expect(isStopped.withLock { $0 }, "A run that is cancelled waits for the work under way.")
    try expect(bench.begun.count, equals: 1, "A run that is cancelled begins nothing more.")
    try await bench.running {
      try await bench.pass(
        until: { bench.begun.count >= 2 }, "Pending requests stay pending when a run is cancelled.")
    }
  }
}
