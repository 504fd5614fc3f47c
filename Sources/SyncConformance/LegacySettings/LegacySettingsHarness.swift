public import SyncPorts

/// Access of the checks to legacy settings.
///
/// One harness has one place of settings, which is empty at first, and serves one check.
public struct LegacySettingsHarness: Sendable {
  /// Writes a dictionary, JSON text by key, in the way of the app's earlier version.
  public var fill: @Sendable (_ dictionary: String, _ values: [String: String]) async throws -> Void
  /// Opens the settings, after dictionaries were written.
  public var open: @Sendable () async throws -> any LegacySettings
  /// Makes a dictionary that exists unreadable; `nil` if that is impossible.
  public var damage: (@Sendable (_ dictionary: String) async throws -> Void)?
  /// The values that the checks write. Change them where the place has no such keys or values.
  public var values = [
    "AA:BB:CC:DD:EE:01": #""Cellar""#, "aa:bb:cc:dd:ee:01": #""cellar""#, "k": "1", "kk": "true",
    "e\u{301}/1": "2.5", "nothing": "null", "long": #"{"a":[1,2.5,{"b":"é"}]}"#, "list": "[]", " ": #""""#,
  ]

  /// Creates access to settings. Checks that need a `nil` function are skipped.
  public init(
    fill: @escaping @Sendable (_ dictionary: String, _ values: [String: String]) async throws -> Void,
    open: @escaping @Sendable () async throws -> any LegacySettings,
    damage: (@Sendable (_ dictionary: String) async throws -> Void)? = nil
  ) {
    self.fill = fill
    self.open = open
    self.damage = damage
  }
}
