import SyncJSON
import SyncModels
import SyncPorts

/// One promise of `LegacySettings`, as a check for any adapter.
///
/// Run every case with its own settings; see ``LegacySettingsHarness``.
public enum LegacySettingsCheck: String, CaseIterable, Sendable {
  /// A promise of settings.
  case valuesComeBackByKey, dictionariesAreKeptApart, missingDictionaryIsEmpty, readingChangesNothing,
    unreadableDictionaryIsTold

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
      case .unreadableDictionaryIsTold: try await Self.unreadableDictionaryIsTold(harness)
      }
    }
  }

  /// Every kind of value, under keys that differ in little.
  private static let values = [
    "AA:BB:CC:DD:EE:01": #""Cellar""#, "aa:bb:cc:dd:ee:01": #""cellar""#, "k": "1", "kk": "true",
    "é/1": "null", "long": #"{"a":[1,2.5,{"b":"é"}]}"#, "list": "[]", " ": #""""#,
  ]

  /// Checks the values of a dictionary. Their spelling in JSON may differ.
  private static func expectValues(
    in dictionary: String, _ harness: LegacySettingsHarness, _ wanted: [String: String], _ sentence: String
  ) async throws {
    let found: [String: [UInt8]]
    do throws(SyncError) {
      found = try await harness.settings.values(in: dictionary)
    } catch {
      throw ConformanceFailure("\(sentence) Instead there was an error: \(error)")
    }
    for (key, bytes) in found {
      try expect((try? JSONScanner.validate(bytes[...])) != nil, "A value is JSON. That of \(key) is not.")
    }
    try expect(
      found.mapValues { String(decoding: JSONScanner.canonical($0[...]), as: UTF8.self) },
      equals: wanted.mapValues {
        String(decoding: JSONScanner.canonical(Array($0.utf8)[...]), as: UTF8.self)
      },
      sentence)
  }

  private static func valuesComeBackByKey(_ harness: LegacySettingsHarness) async throws {
    try await harness.fill("names", values)
    try await expectValues(in: "names", harness, values, "Each value comes back by its key.")
  }

  private static func dictionariesAreKeptApart(_ harness: LegacySettingsHarness) async throws {
    try await harness.fill("names", ["a": "1", "b": "2"])
    try await harness.fill("colours", ["a": "3"])
    let sentence = "A dictionary has its own values alone."
    try await expectValues(in: "names", harness, ["a": "1", "b": "2"], sentence)
    try await expectValues(in: "colours", harness, ["a": "3"], sentence)
  }

  private static func missingDictionaryIsEmpty(_ harness: LegacySettingsHarness) async throws {
    let sentence = "A dictionary that does not exist is empty."
    try await expectValues(in: "names", harness, [:], sentence)
    try await harness.fill("names", ["a": "1"])
    try await expectValues(in: "colours", harness, [:], sentence)
  }

  private static func readingChangesNothing(_ harness: LegacySettingsHarness) async throws {
    try await harness.fill("names", values)
    for _ in 0..<3 {
      try await expectValues(in: "names", harness, values, "Reading a dictionary changes nothing.")
      try await expectValues(in: "colours", harness, [:], "Reading a dictionary creates none.")
    }
  }

  private static func unreadableDictionaryIsTold(_ harness: LegacySettingsHarness) async throws {
    guard let spoil = harness.spoil else {
      throw Inapplicable(reason: "The harness cannot make a dictionary unreadable.")
    }
    try await harness.fill("names", ["a": "1"])
    try await spoil("names")
    // Again, as a migration is retried.
    for _ in 0..<2 {
      try await expect(.storeUnreadable, "A dictionary that cannot be read is not empty.") {
        () throws(SyncError) in _ = try await harness.settings.values(in: "names")
      }
    }
  }
}
