public import SyncPorts

/// Access of the checks to legacy settings.
///
/// One harness has settings of its own, which are empty at first, and serves one check.
public struct LegacySettingsHarness: Sendable {
  /// The settings to check.
  public var settings: any LegacySettings
  /// Writes a dictionary as an earlier version of the app has: JSON text by key.
  public var fill: @Sendable (_ dictionary: String, _ values: [String: String]) async throws -> Void
  /// Makes a dictionary that exists unreadable; `nil` if that is impossible.
  public var spoil: (@Sendable (_ dictionary: String) async throws -> Void)?

  /// Creates access to settings. Checks that need a `nil` function are skipped.
  public init(
    settings: any LegacySettings,
    fill: @escaping @Sendable (_ dictionary: String, _ values: [String: String]) async throws -> Void,
    spoil: (@Sendable (_ dictionary: String) async throws -> Void)? = nil
  ) {
    self.settings = settings
    self.fill = fill
    self.spoil = spoil
  }
}
