import CanonicalSync

/// A meter, as the app's owner sees it.
struct Meter: SyncedRecord, Codable {
  static let recordType: RecordType = "meters"
  /// The radio's hardware address, in its author's spelling.
  var mac: String
  var name: String
}

/// The app's schema, by the version of the app.
enum MeterTypes {
  /// The schema of version 1, which identified meters by their records' ids alone.
  ///
  /// It made a new record at each installation.
  static func version1() throws(SyncError) -> SyncSchema {
    try SyncSchema(Entity("meters"), readings)
  }

  /// The schema of version 2: a hardware address is one meter, and edits are stamped.
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
  /// A meter's id.
  static func meter(_ key: String) -> RecordID { RecordID(type: Meter.recordType, key: key) }
}
