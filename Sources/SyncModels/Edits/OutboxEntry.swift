/// A local edit that the remote has not acknowledged, with its base.
///
/// A record has at most one entry. Edits before a push coalesce into it and keep its base. While
/// there is an entry, the record's row shows the edit, and the row's version is the base's.
public struct OutboxEntry: Hashable, Sendable, Codable {
  /// The record that was edited.
  public let id: RecordID
  /// The latest edit. Entries are sent in the order of their edits' stamps.
  public var edit: Edit
  /// The remote state that the edit was made on, and that a push expects.
  public var base: Base
  // An `Edit?` starts as nil, which costs one more copy at initialization.
  /// The edit that was sent and not yet answered.
  ///
  /// The remote may have received it. It is sent again, unchanged, before any newer edit.
  public var sent: Optional<Edit>
  /// Whether and when the entry is sent.
  public var state: State
  /// The number of send attempts since the base or the edit last changed.
  public var attempts: Int
  /// The author of the edit.
  public var author: Author
  /// The records that the base refers to and the edit does not.
  ///
  /// The remote's copy refers to them until the remote accepts the edit.
  public var leaves: [RecordID]

  /// Creates an outbox entry.
  public init(
    id: RecordID, edit: Edit, base: Base, sent: Edit? = nil, state: State = .waiting, attempts: Int = 0,
    author: Author = .app, leaves: [RecordID] = []
  ) {
    self.author = author
    self.leaves = leaves
    self.id = id
    self.edit = edit
    self.base = base
    self.sent = sent
    self.state = state
    self.attempts = attempts
  }

  /// The entry as stores keep it: a base that is a copy has no fields.
  public var withoutFields: OutboxEntry {
    guard case .copy(var copy) = base else { return self }
    copy.fields = []
    var entry = self
    entry.base = .copy(copy)
    return entry
  }

  /// The remote state that an edit was made on.
  public enum Base: Hashable, Sendable, Codable {
    /// No known state: the remote has never listed the record.
    case none
    // Indirect: a push passes an entry on many times, and a record has five parts to retain each
    // time.
    /// A copy. Its ``Record/fields`` are not kept and are empty.
    indirect case copy(Record)
    /// A deletion.
    case deleted(Tombstone)

    /// The version that a push expects; `nil` for none.
    public var version: Version? {
      switch self {
      case .none: nil
      case .copy(let record): record.version
      case .deleted(let tombstone): tombstone.version
      }
    }

    /// The copy, if the remote has the record.
    public var record: Record? {
      if case .copy(let record) = self { record } else { nil }
    }
  }

  /// The author of an edit.
  public enum Author: Hashable, Sendable, Codable {
    /// The app.
    case app
    // Indirect, as most entries are the app's.
    /// A rebuild. Its edits do not count as a record's last write.
    indirect case rebuild(Rebuilt)
  }

  /// A rebuild's knowledge of a record that it edits or deletes.
  public struct Rebuilt: Hashable, Sendable, Codable {
    /// The last write of the record by anything but a rebuild.
    public var lastWrite: EditStamp
    /// The number of the type's last pass at the time of the rebuild's decision.
    public var pass: Int64
    /// The record that a deleted record has lost to, of the same type.
    ///
    /// `nil` in other edits, and once the app has removed the winner itself.
    public var winner: RecordID?

    /// Creates the state of a record that a rebuild edits.
    public init(lastWrite: EditStamp, pass: Int64, winner: RecordID? = nil) {
      self.lastWrite = lastWrite
      self.pass = pass
      self.winner = winner
    }
  }

  /// The record's last write, without the edits of rebuilds. Last-write-wins compares it.
  public var lastWrite: EditStamp {
    if case .rebuild(let rebuilt) = author { rebuilt.lastWrite } else { edit.stamp }
  }

  /// Whether and when an entry is sent.
  public enum State: Hashable, Sendable, Codable {
    /// The next push sends the entry.
    case waiting
    /// A push after this instant sends the entry, as the remote asked.
    case postponed(until: Timestamp)
    /// The remote refused the entry for good.
    ///
    /// It is sent again after another edit, or on request.
    case refused(reason: String, at: Timestamp)
  }

  /// The idempotency key of one of the entry's edits, the same at every attempt.
  ///
  /// It is derived from what is stored before the first attempt. No two edits of a replica have the
  /// same stamp. One edit sent again on another base is another effect and has another key. That
  /// holds even if a record that was taken for deleted exists after all, at its former version.
  public func idempotencyKey(for edit: Edit) -> IdempotencyKey {
    let version = base.version ?? .unversioned
    var name = NameBytes(capacity: edit.stamp.replica.utf8.count + 128)
    edit.stamp.write(to: &name)
    name.append(mark: "/")
    name.append(version.epoch)
    name.append(mark: ".")
    name.append(version.sequence)
    name.append(mark: ".")
    name.append(version.modifiedAt.microseconds)
    if case .deleted = base { name.append("/deleted") }
    return IdempotencyKey(name.text)
  }
}

/// The name of one effect at the remote. Repeated requests under one name have one effect.
public struct IdempotencyKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Creates a key.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Creates a key.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The name itself.
  public var description: String { rawValue }

  /// Whether two keys are equal, byte for byte.
  public static func == (a: IdempotencyKey, b: IdempotencyKey) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}
