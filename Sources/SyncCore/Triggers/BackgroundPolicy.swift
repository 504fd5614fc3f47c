public import SyncPorts

/// When an app requests time in the background.
///
/// Both requests are submitted after the app's launch and whenever it goes to the background. Each
/// is submitted again before its work begins, so that the system wakes a process that dies during
/// the work.
public struct BackgroundPolicy: Hashable, Sendable {
  /// The earliest start of a refresh, counted from its request.
  public var refreshAfter: Duration
  /// When sync and clean-up are due, in the app's time zone.
  public var processingAt: TimeOfDay
  /// Whether sync and clean-up wait for external power.
  public var processingNeedsPower: Bool

  /// Creates a policy; by default sync and clean-up wait for external power.
  public init(
    refreshAfter: Duration = .seconds(3600), processingAt: TimeOfDay = TimeOfDay(hour: 2),
    processingNeedsPower: Bool = true
  ) {
    self.refreshAfter = refreshAfter
    self.processingAt = processingAt
    self.processingNeedsPower = processingNeedsPower
  }

  /// Returns the request of a kind.
  func request(for kind: BackgroundRequest.Kind) -> BackgroundRequest {
    switch kind {
    case .refresh: BackgroundRequest(.refresh, earliest: .after(refreshAfter))
    case .processing:
      BackgroundRequest(
        .processing, earliest: .next(processingAt), needsNetwork: true,
        needsExternalPower: processingNeedsPower)
    }
  }
}
