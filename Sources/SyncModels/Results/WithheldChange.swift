/// A change that the store keeps without showing it: nothing that a remote sent is dropped in silence.
public struct WithheldChange: Hashable, Sendable {
  /// What it is filed under; a later entry under the same key replaces it.
  public var key: Key
  /// Why it is kept.
  public var kind: Kind
  /// What came: a copy, a deletion or bytes.
  public var change: RecordChange
  /// What a person should know of the reason.
  public var reason: String
  /// The records that have to be there first.
  public var waitsFor: [RecordID]
  /// The number of the pass that fetched it.
  public var pass: Int64
  /// The fencing number of the sync that fetched it (bytes whose record is unknown: first fetched it), and the negative of it where the answer to a push brought it: a sync counts what it
  /// fetches, and answers are not among it.
  public var fence: Int64
  /// When it was set aside.
  public var since: Timestamp

  /// Describes a change that is set aside.
  public init(
    key: Key, kind: Kind, change: RecordChange, reason: String, waitsFor: [RecordID] = [], pass: Int64,
    fence: Int64, since: Timestamp
  ) {
    self.key = key
    self.kind = kind
    self.change = change
    self.reason = reason
    self.waitsFor = waitsFor
    self.pass = pass
    self.fence = fence
    self.since = since
  }

  /// What an entry is filed under: a record has at most one.
  public enum Key: Hashable, Sendable {
    /// The record that it concerns.
    case record(RecordID)
    /// The digest of bytes whose record is unknown, or of a copy that lost to another with its id.
    case bytes(RecordType, digest: UInt64)

    /// The type that the entry belongs to.
    public var type: RecordType {
      switch self {
      case .record(let id): id.type
      case .bytes(let type, _): type
      }
    }
  }

  /// How a withheld change depends on other records.
  public enum Relation: Hashable, Sendable, CaseIterable {
    /// Its copy refers to them by a declared reference, ordered or not; a reference to itself does not count.
    case referringTo
    /// It is parked until they are live: ``WithheldChange/waitsFor`` names them, whatever is declared.
    case waitingFor
  }

  /// Why a change is kept without being shown.
  public enum Kind: String, Hashable, Sendable, Codable, CaseIterable {
    /// A copy that refers to a record that is not there yet; it appears with it.
    case parked
    /// A deletion that waits until nothing refers to the record any more.
    case held
    /// A copy of a newer schema than the app understands.
    case incompatible
    /// Bytes that could not be read as a record.
    case quarantined
    /// A change of a type that is shown only whole, before its publication.
    case staged
    /// A live record that one complete listing of a moving collection lacked; a second one has to lack it too.
    case missing
    /// A record that clean-up hid; it is shown again once the remote changes it, or something here refers to it.
    case hidden
  }
}

extension WithheldChange.Key: Comparable {
  /// Entries of records by their ids, then those of bytes by type and digest.
  public static func < (a: WithheldChange.Key, b: WithheldChange.Key) -> Bool {
    switch (a, b) {
    case (.record(let a), .record(let b)): a < b
    case (.record, .bytes): true
    case (.bytes, .record): false
    case (.bytes(let aType, let a), .bytes(let bType, let b)): aType == bType ? a < b : aType < bType
    }
  }
}
