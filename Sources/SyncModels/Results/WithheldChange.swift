/// A change that the store keeps without showing it to readers.
///
/// No change of a remote is dropped in silence.
public struct WithheldChange: Hashable, Sendable, Codable {
  /// The entry's key. A later entry with the same key replaces it.
  public var key: Key
  /// Why the change is withheld.
  public var kind: Kind
  /// The change: a copy, a tombstone or a malformed record.
  public var change: RecordChange
  /// The reason, for a person.
  public var reason: String
  /// The records that must be visible first.
  public var waitsFor: [RecordID]
  /// The number of the pass that fetched the change.
  public var pass: Int64
  /// What brought the change; for bytes without a known record, what brought them first.
  public var finder: Finder
  /// When the change was withheld.
  public var since: Timestamp

  /// Creates a withheld change.
  public init(
    key: Key, kind: Kind, change: RecordChange, reason: String, waitsFor: [RecordID] = [], pass: Int64,
    finder: Finder, since: Timestamp
  ) {
    self.key = key
    self.kind = kind
    self.change = change
    self.reason = reason
    self.waitsFor = waitsFor
    self.pass = pass
    self.finder = finder
    self.since = since
  }

  /// The key of an entry. A record has at most one entry.
  public enum Key: Hashable, Sendable, Codable {
    /// The id of the record.
    case record(RecordID)
    /// The digest of bytes without a known record, or of a record's losing copy.
    case bytes(RecordType, digest: UInt64)

    /// The type that the entry belongs to.
    public var type: RecordType {
      switch self {
      case .record(let id): id.type
      case .bytes(let type, _): type
      }
    }
  }

  /// What brought a withheld change. A sync counts the changes that it fetches, and no others.
  public enum Finder: Hashable, Sendable, Codable {
    /// A page, or an answer to a lookup, of the sync with this fencing number.
    case sync(fence: Int64)
    /// The answer to a push of the sync with this fencing number.
    case push(fence: Int64)
    /// A sweep, an edit or a changed declaration; no remote sent the change.
    case store
  }

  /// The relation of a withheld change to other records.
  public enum Relation: Hashable, Sendable, CaseIterable {
    /// The copy refers to them by a declared reference, ordered or not.
    ///
    /// A reference to itself does not count.
    case referringTo
    /// The change is parked until they are live.
    ///
    /// ``WithheldChange/waitsFor`` names them, whatever is declared.
    case waitingFor
  }

  /// Why a change is withheld.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A copy that refers to a missing record. It appears together with that record.
    case parked
    /// A deletion that waits until no record refers to its record.
    case held
    /// A copy of a newer schema than the app understands.
    case incompatible
    /// Bytes that are not a record.
    case quarantined
    /// A change of a type that is published only as a whole, before its publication.
    case staged
    /// A live record that one complete listing of a moving collection lacked.
    ///
    /// It is removed if a second listing lacks it too.
    case missing
    /// A record that a clean-up hid.
    ///
    /// It reappears once the remote changes it, or a live record refers to it.
    case hidden
  }
}

extension WithheldChange.Key: Comparable {
  /// Orders entries of records by their ids, then entries of bytes by type and digest.
  public static func < (a: WithheldChange.Key, b: WithheldChange.Key) -> Bool {
    switch (a, b) {
    case (.record(let a), .record(let b)): a < b
    case (.record, .bytes): true
    case (.bytes, .record): false
    case (.bytes(let aType, let a), .bytes(let bType, let b)): aType == bType ? a < b : aType < bType
    }
  }
}
