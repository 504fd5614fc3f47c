import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters

extension Stage {
  /// Settings in two old dictionaries become records, once. The dictionaries stay.
  func migration() async throws(SyncError) -> JSON {
    wait(until: 15)
    let settings = InMemoryLegacySettings([
      "names": ["AA:BB:CC:DD:EE:01": #""Cellar (old)""#, "AA:BB:CC:DD:F1:01": #""Garage""#],
      "colours": ["AA:BB:CC:DD:EE:01": #""blue""#, "AA:BB:CC:DD:F1:01": #""red""#],
    ])
    let before = settings.dictionaries
    let migration = LegacyMigration(
      "settings-before-version-1", to: Meter.recordType, keyField: "mac",
      fields: ["names": "name", "colours": "colour"],
      recordKey: { "legacy-" + $0.filter { $0 != ":" }.lowercased() })
    let (meters, reads) = (try await b.meters().count, settings.reads)
    let report = try await b.engine.migrate(settings, by: migration)
    say(
      "B",
      "finds old settings of meters; new: \(report.counts.inserted), got what they lacked: \(report.counts.merged)"
    )
    let (readOnce, added) = (settings.reads - reads, try await b.meters().count - meters)
    let again = try await b.engine.migrate(settings, by: migration)
    say("B", again.wasDone ? "starts again, and does not read them again" : "starts again")
    try await settle()
    let colours = remote.records(of: Meter.recordType).count { _, payload in
      if case .string? = try? payload.values(of: ["colour"]).first { true } else { false }
    }
    return [
      "added": .integer(added), "merged": .integer(report.counts.merged),
      "coloursAtRemote": .integer(colours),
      "readsOfSecondRun": .integer(settings.reads - reads - readOnce),
      "isSourceUntouched": .bool(settings.dictionaries == before),
    ]
  }
}
