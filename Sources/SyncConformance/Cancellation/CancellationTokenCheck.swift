public import SyncPorts

/// One promise of `CancellationToken`, as a check for any token.
///
/// Run every case with its own token; see ``CancellationTokenHarness``.
public enum CancellationTokenCheck: String, CaseIterable, Sendable {
  /// A promise of a token.
  case isNotCancelledByBeingRead, tellsOfItsCancellation, staysCancelled, isReadFromAnyThread

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or the harness's own error.
  public func run(on harness: CancellationTokenHarness) async throws -> ConformanceOutcome {
    let (token, cancel) = (harness.token, harness.cancel)
    return try await ConformanceOutcome {
      switch self {
      case .isNotCancelledByBeingRead: try Self.isNotCancelledByBeingRead(token)
      case .tellsOfItsCancellation: try await Self.tellsOfItsCancellation(token, cancel)
      case .staysCancelled: try await Self.staysCancelled(token, cancel)
      case .isReadFromAnyThread: try await Self.isReadFromAnyThread(token, cancel)
      }
    }
  }

  private typealias Cancel = @Sendable () async throws -> Void

  private static func isNotCancelledByBeingRead(_ token: any CancellationToken) throws {
    for _ in 0..<1000 {
      try expect(!token.isCancelled, "A token that was not cancelled stops no sync.")
    }
  }

  private static func tellsOfItsCancellation(_ token: any CancellationToken, _ cancel: Cancel) async throws {
    try await cancel()
    try expect(token.isCancelled, "A token that was cancelled says so at once.")
  }

  private static func staysCancelled(_ token: any CancellationToken, _ cancel: Cancel) async throws {
    try await cancel()
    // An app may cancel twice.
    for _ in 0..<2 {
      for _ in 0..<1000 { try expect(token.isCancelled, "Once a token is cancelled, it stays so.") }
      try await cancel()
    }
  }

  private static func isReadFromAnyThread(_ token: any CancellationToken, _ cancel: Cancel) async throws {
    let reading = Signal()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          reading.give()
          let hasSeen = await Patience.lasts(until: { token.isCancelled })
          try expect(hasSeen, "Every thread sees that the token is cancelled.")
          for _ in 0..<1000 { try expect(token.isCancelled, "Once a token is cancelled, it stays so.") }
        }
      }
      await reading.wait()
      try await cancel()
      try await group.waitForAll()
    }
  }
}

/// Access of the checks to a cancellation token.
///
/// One harness has one token, which is not cancelled, and serves one check.
public struct CancellationTokenHarness: Sendable {
  /// The token to check.
  public var token: any CancellationToken
  /// Cancels the token, and returns once `isCancelled` is true. It may be called again.
  public var cancel: @Sendable () async throws -> Void

  /// Creates access to a token.
  public init(token: any CancellationToken, cancel: @escaping @Sendable () async throws -> Void) {
    self.token = token
    self.cancel = cancel
  }
}
