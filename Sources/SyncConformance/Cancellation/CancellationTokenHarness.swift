public import SyncPorts

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
