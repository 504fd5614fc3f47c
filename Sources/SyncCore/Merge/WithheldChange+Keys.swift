import SyncModels

// No byte of a record's key is 254 or 255, so a key followed by one of them is unambiguous.
extension WithheldChange.Key {
  /// Returns the key of a withheld change: its record, if that is known.
  static func of(_ change: RecordChange) -> WithheldChange.Key? {
    change.id.map { .record($0) }
  }

  /// Returns the key of a malformed record while another change of the record is withheld.
  static func beside(_ id: RecordID) -> WithheldChange.Key {
    .bytes(id.type, digest: ContentDigest.of((Array(id.key.utf8) + [254])[...]))
  }

  /// Returns the key of a malformed record by its bytes.
  ///
  /// Several of them may belong to one record, or the record may be unknown: two records may be
  /// malformed alike.
  static func bytes(of malformed: MalformedRecord) -> WithheldChange.Key {
    .bytes(
      malformed.type,
      digest: ContentDigest.of((Array((malformed.key ?? "").utf8) + [255] + malformed.bytes.bytes)[...]))
  }
}
