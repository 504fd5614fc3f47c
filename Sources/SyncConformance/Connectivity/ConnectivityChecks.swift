import SyncPorts

/// The contents, the order and the end of a monitor's streams.
enum ConnectivityChecks {
  static func streamBeginsWithTheStatusNow(_ bench: ConnectivityBench) async throws {
    let before = bench.monitor.status
    try await bench.following { follower in
      _ = try await follower.connectivity(ofFirst: 1, "A stream begins with the status now.")
      let now = bench.monitor.status
      // The status may have changed while the stream was created, without the check.
      try expect(
        [before, now].contains(follower.seen[0]),
        "A stream begins with the status now, \(now). Found \(follower.seen[0]).")
    }
  }

  static func statusTellsWhatIsSo(_ bench: ConnectivityBench) async throws {
    for connectivity: Connectivity in [.online, .offline, .online] {
      try await bench.become(connectivity)
      try expect(
        bench.monitor.connectivity, equals: connectivity,
        "The status tells what is so, at once and every time.")
    }
  }

  static func changesComeInTheirOrder(_ bench: ConnectivityBench) async throws {
    try await bench.become(.online)
    try await bench.following { follower in
      let changes: [Connectivity] = [.offline, .online, .offline, .online, .offline]
      for change in changes { try await bench.become(change) }
      let sentence = "Each change comes, in the order in which they happened."
      let seen = try await follower.connectivity(ofFirst: changes.count + 1, sentence)
      try expect(seen, equals: [.online] + changes, sentence)
    }
  }

  static func sameStatusIsNoChange(_ bench: ConnectivityBench) async throws {
    try await bench.become(.online)
    try await bench.following { follower in
      for change: Connectivity in [.online, .online, .offline, .offline, .online] {
        try await bench.become(change)
      }
      let sentence = "A status that equals the one before is no change."
      let seen = try await follower.connectivity(ofFirst: 3, sentence)
      try expect(seen, equals: [.online, .offline, .online], sentence)
    }
  }

  static func eachStreamIsItsOwn(_ bench: ConnectivityBench) async throws {
    try await bench.become(.online)
    try await bench.following { first in
      try await bench.following { second in
        try await bench.become(.offline)
        for follower in [first, second] {
          let sentence = "Each call gives a stream of its own, which misses nothing that another one takes."
          let seen = try await follower.connectivity(ofFirst: 2, sentence)
          try expect(seen, equals: [.online, .offline], sentence)
        }
      }
      // The end of one stream does not affect the other.
      try await bench.become(.online)
      _ = try await first.connectivity(ofFirst: 3, "A stream goes on when another one ends.")
    }
  }

  static func lossIsSeenByASlowListener(_ bench: ConnectivityBench) async throws {
    try await bench.become(.online)
    let stream = bench.monitor.statuses()
    // With the status before them, there are sixteen.
    let changes = (0..<15).map { $0.isMultiple(of: 2) ? Connectivity.offline : .online }
    for change in changes { try await bench.become(change) }
    try await bench.consuming(stream) { follower in
      let sentence = "A slow reader gets at least the newest sixteen statuses."
      let seen = try await follower.connectivity(ofFirst: changes.count + 1, sentence)
      try expect(seen, equals: [.online] + changes, sentence)
    }
  }

  static func endedStreamLeavesNothingBehind(_ bench: ConnectivityBench) async throws {
    guard let followers = bench.harness.followers else {
      throw Inapplicable(reason: "The harness cannot count the streams.")
    }
    let before = followers()
    for _ in 0..<10 { try await consumeOne(bench, counted: followers, before: before) }
    try expect(followers(), equals: before, "A stream that is no longer consumed leaves nothing behind.")
  }

  // If it is inlined into the loop, the optimizer crashes, because it cannot split the coroutine.
  @inline(never)
  private static func consumeOne(
    _ bench: ConnectivityBench, counted followers: @escaping @Sendable () -> Int, before: Int
  ) async throws {
    try await bench.following { follower in
      _ = try await follower.connectivity(ofFirst: 1, "A stream begins with the status now.")
      try expect(followers(), equals: before + 1, "A stream that is consumed is counted.")
    }
  }
}
