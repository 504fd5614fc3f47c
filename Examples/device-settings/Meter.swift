import CanonicalSync

/// A meter, as the app's owner sees it.
struct Meter: SyncedRecord, Codable {
  static let recordType: RecordType = "meters"
  /// The radio's hardware address, as whoever wrote it spelled it.
  var mac: String
  var name: String
}

/// What the app keeps, by the version of the app.
enum MeterTypes {
  /// Version 1 knew meters by their records' ids alone, and made a new record whenever it was installed again.
  static func version1() throws(SyncError) -> SyncSchema {
    try SyncSchema(Entity("meters"), readings)
  }

  /// Version 2 knows that a hardware address is one meter, and stamps its edits.
  static func version2() throws(SyncError) -> SyncSchema {
    try SyncSchema(
      Entity(
        "meters", naturalKey: NaturalKey("mac", normalizedBy: .alphanumeric), indexes: ["name"],
        stampField: "edited"),
      readings)
  }

  private static let readings = Entity("readings", references: [.to("meters", by: "meter")])
}

extension RecordID {
  /// A meter's identity.
  static func meter(_ key: String) -> RecordID { RecordID(type: Meter.recordType, key: key) }
}
