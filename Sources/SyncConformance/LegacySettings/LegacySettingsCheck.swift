import SyncJSON
import SyncModels
public import SyncPorts

/// One promise of `LegacySettings`, as a check for any adapter.
///
/// Run every case with its own settings; see ``LegacySettingsHarness``.
public enum LegacySettingsCheck: String, CaseIterable, Sendable {
  /// A promise of settings.
  case valuesComeBackByKey, dictionariesAreKeptApart, missingDictionaryIsEmpty, readingChangesNothing,
    unreadableDictionaryIsAnError

  /// Runs the check on a harness that no other check has used.
  ///
  /// - Returns: Whether the promise was kept, or the check does not apply.
  /// - Throws: ``ConformanceFailure`` with the broken promise, or an error of the harness.
  public func run(on harness: LegacySettingsHarness) async throws -> ConformanceOutcome {
    try await ConformanceOutcome {
      switch self {
      case .valuesComeBackByKey: try await Self.valuesComeBackByKey(harness)
      case .dictionariesAreKeptApart: try await Self.dictionariesAreKeptApart(harness)
      case .missingDictionaryIsEmpty: try await Self.missingDictionaryIsEmpty(harness)
      case .readingChangesNothing: try await Self.readingChangesNothing(harness)
      case .unreadableDictionaryIsAnError: try await Self.unreadableDictionaryIsAnError(harness)
      }
    }
  }

  /// Checks the values of a dictionary. Their spelling in JSON may differ.
  private static func expectValues(
    in dictionary: String, _ settings: any LegacySettings, _ wanted: [String: String], _ sentence: String
  ) async throws {
    let found: [String: [UInt8]]
    do throws(SyncError) {
      found = try await settings.values(in: dictionary)
    } catch {
      throw ConformanceFailure("\(sentence) Instead there was an error: \(error)")
    }
    for (key, bytes) in found {
      do throws(JSONError) {
        try JSONScanner.validate(bytes[...])
      } catch {
        throw ConformanceFailure("A value is JSON. That of \(key) is not: \(error)")
      }
    }
    try expect(canonical(found), equals: canonical(wanted.mapValues { Array($0.utf8) }), sentence)
  }

  private static func canonical(_ values: [String: [UInt8]]) -> [Bytes: String] {
    Dictionary(
      uniqueKeysWithValues: values.map {
        (Bytes($0), String(decoding: JSONScanner.canonical($1[...]), as: UTF8.self))
      })
  }

  private static func valuesComeBackByKey(_ harness: LegacySettingsHarness) async throws {
    try await harness.fill("names", harness.values)
    let sentence = "Each value comes back by its key."
    try await expectValues(in: "names", harness.open(), harness.values, sentence)
  }

  private static func dictionariesAreKeptApart(_ harness: LegacySettingsHarness) async throws {
    let few = harness.values.filter { $0.key.utf8.count < 3 }
    try await harness.fill("names", harness.values)
    try await harness.fill("colours", few)
    let (settings, sentence) = (try await harness.open(), "A dictionary has its own values alone.")
    try await expectValues(in: "names", settings, harness.values, sentence)
    try await expectValues(in: "colours", settings, few, sentence)
  }

  private static func missingDictionaryIsEmpty(_ harness: LegacySettingsHarness) async throws {
    let sentence = "A dictionary that does not exist is empty."
    try await expectValues(in: "names", harness.open(), [:], sentence)
    try await harness.fill("names", harness.values)
    try await expectValues(in: "colours", harness.open(), [:], sentence)
  }

  private static func readingChangesNothing(_ harness: LegacySettingsHarness) async throws {
    try await harness.fill("names", harness.values)
    for _ in 0..<2 {
      let settings = try await harness.open()
      for _ in 0..<2 {
        let sentence = "Reading a dictionary changes nothing."
        try await expectValues(in: "names", settings, harness.values, sentence)
        try await expectValues(in: "colours", settings, [:], "Reading a dictionary creates none.")
      }
    }
  }

  private static func unreadableDictionaryIsAnError(_ harness: LegacySettingsHarness) async throws {
    guard let damage = harness.damage else {
      throw Inapplicable(reason: "The harness cannot make a dictionary unreadable.")
    }
    try await harness.fill("names", harness.values)
    try await damage("names")
    let settings = try await harness.open()
    // Again, because a migration is retried.
    for _ in 0..<2 {
      try await expect(.storeUnreadable, "A dictionary that cannot be read is an error.") {
        () throws(SyncError) in _ = try await settings.values(in: "names")
      }
    }
  }
}

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
