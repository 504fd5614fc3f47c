/// A local edit that the remote has not acknowledged, with the remote's last word that it was made on.
///
/// A record has at most one entry: edits before a push coalesce, and keep the base they started from. While there is an entry, the record's row
/// shows the edit, and the row's version is the base's.
public struct OutboxEntry: Hashable, Sendable {
  /// The record that was edited.
  public let id: RecordID
  /// What the app wants; entries are sent in the order of their edits' stamps.
  public var edit: Edit
  /// The remote's last word: what a push takes for granted.
  public var base: Base
  // `Edit?` would begin as nil, and what has such a beginning is copied once more when it is made.
  /// What was sent and perhaps received, until the remote's answer is known; it is sent again, unaltered, before anything newer.
  public var sent: Optional<Edit>
  /// Whether the entry is to be sent.
  public var state: State
  /// How often sending it was begun since its base or its edit last changed.
  public var attempts: Int
  /// What made the edit.
  public var author: Author
  /// The records that the base refers to and the edit does not: until the edit is accepted, the remote's copy refers to them.
  public var leaves: [RecordID]

  /// Describes a local edit.
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

  /// The remote's last word on a record.
  public enum Base: Hashable, Sendable {
    /// The remote has never spoken of it.
    case none
    // Apart: an entry is handed on many times while it is pushed, and of a record there are five parts to hold each time.
    /// It exists. The copy's ``Record/fields`` are not kept and are empty.
    indirect case copy(Record)
    /// It was deleted.
    case deleted(Tombstone)

    /// The version that a push takes for granted; `nil` where there is none.
    public var version: Version? {
      switch self {
      case .none: nil
      case .copy(let record): record.version
      case .deleted(let tombstone): tombstone.version
      }
    }

    /// The copy, if the record exists at the remote.
    public var record: Record? {
      if case .copy(let record) = self { record } else { nil }
    }
  }

  /// What made an edit.
  public enum Author: Hashable, Sendable {
    /// The app.
    case app
    // Apart, as most entries have none.
    /// A rebuild, whose edits do not make a record the last written.
    indirect case rebuild(Rebuilt)
  }

  /// What is known of a record that a rebuild edits or deletes.
  public struct Rebuilt: Hashable, Sendable {
    /// When the record was last written by anything but a rebuild.
    public var lastWrite: EditStamp
    /// The number of the type's last pass when the rebuild decided.
    public var pass: Int64

    /// Describes a record that a rebuild edits.
    public init(lastWrite: EditStamp, pass: Int64) {
      self.lastWrite = lastWrite
      self.pass = pass
    }
  }

  /// When the record was last written, the edits of rebuilds aside: what last-write-wins compares.
  public var lastWrite: EditStamp {
    if case .rebuild(let rebuilt) = author { rebuilt.lastWrite } else { edit.stamp }
  }

  /// Whether an entry is to be sent.
  public enum State: Hashable, Sendable {
    /// With the next push.
    case waiting
    /// Not before an instant, as the remote asked.
    case postponed(until: Timestamp)
    /// Not until it is edited again or asked for: the remote refused it for good.
    case refused(reason: String, at: Timestamp)
  }

  /// The name that one of the entry's edits is sent under, the same at every attempt: made of what is stored before the first one.
  ///
  /// No two edits of a replica have one stamp, and one edit that is sent again on another base has another effect: also where a record that
  /// was taken for deleted turns out to be there, at the version that it had.
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

/// The name of one effect at the remote: what comes twice under one name has happened once.
public struct IdempotencyKey: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  public let rawValue: String

  /// Names an effect.
  public init(rawValue: String) { self.rawValue = rawValue }

  /// Names an effect.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// The name itself.
  public var description: String { rawValue }

  /// Whether two names are the same, byte for byte.
  public static func == (a: IdempotencyKey, b: IdempotencyKey) -> Bool {
    a.rawValue.isSameUTF8(as: b.rawValue)
  }
}
