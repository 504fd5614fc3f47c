public import SyncPorts

/// When an app wants time in the background.
///
/// Both requests are submitted after the app has been launched and whenever it goes to the background, and each anew before its work begins,
/// so that a process that dies in the middle is woken again.
public struct BackgroundPolicy: Hashable, Sendable {
  /// How far ahead a refresh is, at the earliest.
  public var refreshAfter: Duration
  /// When sync and clean-up are due, in the app's time zone.
  public var processingAt: TimeOfDay
  /// Whether sync and clean-up wait for external power.
  public var processingNeedsPower: Bool

  /// Describes a policy; by default the heavy work waits for external power.
  public init(
    refreshAfter: Duration = .seconds(3600), processingAt: TimeOfDay = TimeOfDay(hour: 2),
    processingNeedsPower: Bool = true
  ) {
    self.refreshAfter = refreshAfter
    self.processingAt = processingAt
    self.processingNeedsPower = processingNeedsPower
  }

  /// What to ask for.
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
