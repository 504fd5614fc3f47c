import SyncModels
import Synchronization

/// Answers without an end.
enum BoundChecks {
  private static let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 16)

  static func endlessBodyEndsAtItsLimit(_ bench: TransportBench) async throws {
    for isChunked in [false, true] {
      let head = "HTTP/1.1 200 OK\r\n\(isChunked ? "Transfer-Encoding: chunked\r\n" : "")\r\n"
      let part = isChunked ? Array("10000\r\n".utf8) + block + Array("\r\n".utf8) : block
      try await bench.serving({ _, send in
        _ = send(Array(head.utf8))
        while send(part) {}
        return false
      }) { server in
        try await bench.expectFailure(
          .invalidResponse, "A body that does not end is given up at its limit.", asking: server)
      }
    }
  }

  static func announcedBodyIsNotWaitedFor(_ bench: TransportBench) async throws {
    try await bench.serving("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n") { server in
      try await bench.expectFailure(
        .invalidResponse, "A body that is announced as too long is not waited for.", asking: server)
    }
  }

  static func endlessHeadersEnd(_ bench: TransportBench) async throws {
    let long = String(repeating: "x", count: 1000)
    for unit in ["X-Long: \(long)\r\n", long, "HTTP/1.1 100 Continue\r\n\r\n"] {
      try await bench.serving({ _, send in
        _ = send(Array((unit.hasPrefix("H") ? "" : "HTTP/1.1 200 OK\r\n").utf8))
        while send(Array(unit.utf8)) {}
        return false
      }) { server in
        try await bench.expectFailure(
          .invalidResponse, "Headers that do not end are given up.", asking: server)
      }
    }
  }

  static func compressedBodyIsRefused(_ bench: TransportBench) async throws {
    for encoding in ["gzip", "br", "zstd", "x-unknown"] {
      try await bench.serving(TransportBench.answer("hello", "Content-Encoding: \(encoding)\r\n")) { server in
        try await bench.expectFailure(
          .invalidResponse, "A compressed body is refused, unless it was asked for.", asking: server)
      }
    }
  }

  static func silenceEndsAtTheDeadline(_ bench: TransportBench) async throws {
    for text in ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"] {
      try await bench.serving(text) { server in try await endsAtTheDeadline(server, bench) }
    }
  }

  static func dripEndsAtTheDeadline(_ bench: TransportBench) async throws {
    try await bench.serving({ _, send in
      _ = send(Array("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n".utf8))
      while send([UInt8(ascii: " ")]) { Pause.briefly() }
      return false
    }) { server in try await endsAtTheDeadline(server, bench) }
  }

  private static func endsAtTheDeadline(_ server: any WireServer, _ bench: TransportBench) async throws {
    var request = bench.request(server)
    request.deadline = .milliseconds(200)
    let sent = request
    let start = ContinuousClock.now
    try await expect(.remoteUnavailable, "An answer that is not whole at the deadline has failed.") {
      () async throws(SyncError) in _ = try await bench.harness.send(sent)
    }
    let elapsed = start.duration(to: .now)
    try expect(elapsed >= sent.deadline, "A request does not fail before its deadline.")
    try expect(elapsed < TransportBench.patience / 2, "A request fails at its deadline.")
  }

  static func cancellationEndsTheTransferAtOnce(_ bench: TransportBench) async throws {
    let course = Course()
    try await bench.serving({ _, send in
      course.hasBegun = true
      _ = send(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
      while !course.isChecked, send(Array("1\r\n \r\n".utf8)) { Pause.briefly() }
      course.hasEnded = true
      return false
    }) { server in
      defer { course.isChecked = true }
      // Not a child task, because a transport that ignores its cancellation is not waited for.
      let transfer = Task { course.outcome = await bench.outcome(of: bench.request(server)) }
      _ = await Patience.lasts(until: { course.hasBegun || course.outcome != nil })
      transfer.cancel()
      try expect(course.hasBegun, "A request reaches its server.")
      let ends = await Patience.lasts(until: { course.outcome != nil })
      try expect(ends, "A cancelled transfer ends at once.")
      try expect(course.outcome, equals: .failed(.cancelled), "A cancelled transfer ends with `cancelled`.")
      // The server notices that the client has stopped reading.
      let isNoticed = await Patience.lasts(until: { course.hasEnded })
      try expect(isNoticed, "A cancelled transfer leaves no connection on which its answer arrives.")
    }
  }

  /// The course of one transfer, at the server and at the client.
  private final class Course: Sendable {
    private struct State {
      var hasBegun = false
      var hasEnded = false
      var outcome: TransportBench.Outcome?
      var isChecked = false
    }
    private let state = Mutex(State())

    var hasBegun: Bool {
      get { state.withLock { $0.hasBegun } }
      set { state.withLock { $0.hasBegun = newValue } }
    }
    var hasEnded: Bool {
      get { state.withLock { $0.hasEnded } }
      set { state.withLock { $0.hasEnded = newValue } }
    }
    var outcome: TransportBench.Outcome? {
      get { state.withLock { $0.outcome } }
      set { state.withLock { $0.outcome = newValue } }
    }
    /// Whether the check is over, so that the server need not go on.
    var isChecked: Bool {
      get { state.withLock { $0.isChecked } }
      set { state.withLock { $0.isChecked = newValue } }
    }
  }
}

/// A short wait on a server's thread.
enum Pause {
  static func briefly() {
    let end = ContinuousClock.now.advanced(by: .milliseconds(2))
    while ContinuousClock.now < end {}
  }
}
