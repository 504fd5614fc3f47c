public import SyncModels

/// A stored record as the app's type, with its key and state.
///
/// The value's members are at hand: `game.startsAt` is `game.value.startsAt`. A changed value goes
/// back by `edits.upsert(game)`, under the same key. It knows what it was read from, and what was
/// saved of it, so that members that the app did not change since stay as they are by then.
@dynamicMemberLookup
public struct Stored<Value: SyncedRecord>: Sendable {
  /// The record as the app's type.
  public var value: Value {
    didSet {
      if origin == nil || isKnownUniquelyReferenced(&saves) && saves?.isHandedOver == false { return }
      saves = FormSaves(after: saves)
    }
  }
  /// The record's key.
  public let key: String
  /// The version of the remote's copy that the record is based on.
  public let version: Version
  /// The state of the record's edit in the outbox; `nil` without one.
  public let edit: EditState?

  /// The payload that the value was read from; `nil` for a value that was not read.
  let origin: Payload?
  /// What was saved of the value; `nil` for one that is as it was read.
  private(set) var saves: FormSaves?
  /// What was read, in place of a save; `nil` for a value that was not read.
  var read: FormSaves.Save? { origin.map { FormSaves.Save(view: $0, stored: $0) } }

  /// Creates a stored record, for tests and previews.
  public init(_ value: Value, key: String, version: Version = .unversioned, edit: EditState? = nil) {
    self.init(value, key: key, version: version, edit: edit, origin: nil)
  }

  init(_ value: Value, key: String, version: Version, edit: EditState?, origin: Payload?) {
    self.value = value
    self.key = key
    self.version = version
    self.edit = edit
    self.origin = origin
  }

  /// Whether an edit of the record waits in the outbox.
  public var hasPendingEdit: Bool { edit != nil }

  /// The record's type and key.
  public var recordID: RecordID { RecordID(type: Value.recordType, key: key) }

  /// A member of the value.
  public subscript<Member>(dynamicMember path: KeyPath<Value, Member>) -> Member { value[keyPath: path] }

  /// A member of the value, which can be set.
  public subscript<Member>(dynamicMember path: WritableKeyPath<Value, Member>) -> Member {
    get { value[keyPath: path] }
    set { value[keyPath: path] = newValue }
  }
}

extension Stored: Equatable where Value: Equatable {
  /// Whether value, key and state are equal, whatever members the records have beside.
  public static func == (a: Stored, b: Stored) -> Bool {
    a.value == b.value && a.key.isSameUTF8(as: b.key) && a.version == b.version
      && a.edit == b.edit
  }
}
extension Stored: Hashable where Value: Hashable {
  /// Hashes the value and the key.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(value)
    hasher.combine(key)
  }
}
extension Stored: Identifiable where Value: Identifiable {
  /// The value's own `id`.
  public var id: Value.ID { value.id }
}

/// The result of a typed read: the records, and those that did not decode.
///
/// ```swift
/// let games = try await engine.records.all(Game.self)
/// for game in games { print(game.key, game.startsAt) }
/// if !games.leftOut.isEmpty { print(games.leftOut) }
/// ```
public struct RecordList<Element: Sendable>: RandomAccessCollection, Sendable {
  private let elements: [Element]
  /// The records that do not decode, in the read's order.
  public let leftOut: [Undecodable]
  /// The key of the last record read, decoded or not; `nil` without records.
  ///
  /// The next portion begins after it.
  public let lastKey: String?

  init(_ elements: [Element], leftOut: [Undecodable], lastKey: String?) {
    self.elements = elements
    self.leftOut = leftOut
    self.lastKey = lastKey
  }

  /// The position of the first element.
  public var startIndex: Int { elements.startIndex }
  /// The position after the last element.
  public var endIndex: Int { elements.endIndex }
  /// The element at a position.
  public subscript(position: Int) -> Element { elements[position] }

  /// Returns the list if every record decoded.
  ///
  /// - Throws: ``SyncError`` with code `undecodable`, which tells how many records do not decode,
  ///   and why the first one does not.
  public func complete() throws(SyncError) -> Self {
    guard let first = leftOut.first else { return self }
    throw SyncError(
      .undecodable, during: "reading \(first.id.type)",
      """
      \(Counted(leftOut.count, "record")) of \(leftOut.count + count) cannot be read as the requested type. \
      \(first)
      """, underlying: first)
  }
}

extension RecordList: Equatable where Element: Equatable {}

extension Record {
  /// Decodes the record, and reports it if that fails.
  func stored<T: SyncedRecord>(
    by reader: ModelReader<T>, edit: EditState?, in schema: SyncSchema, reportingTo emit: (SyncEvent) -> Void
  ) throws(Undecodable) -> Stored<T> {
    do throws(Undecodable) {
      return Stored(
        try decoded(by: reader, in: schema), key: id.key, version: version, edit: edit, origin: payload)
    } catch {
      emit(.undecodable(error.id, reason: error.reason))
      throw error
    }
  }

  /// Decodes the record, unless a later version of the app has written it.
  ///
  /// The app has gone back to an earlier version since. What a remote sends of a later version is
  /// withheld before it is here.
  func decoded<T: SyncedRecord>(by reader: ModelReader<T>, in schema: SyncSchema) throws(Undecodable) -> T {
    if schemaVersion > 1, let own = schema[id.type]?.schemaVersion, schemaVersion > own {
      throw Undecodable(
        id: id, reason: "it has the schema version \(schemaVersion), and this version of the app reads \(own)"
      )
    }
    return try reader.decode(payload, key: id.key)
  }
}

/// The state of a record's edit, as an app shows it beside the record.
///
/// ``LocalEdits/waiting(_:after:limit:)`` tells more, such as the records that an edit waits for.
public enum EditState: Hashable, Sendable {
  /// The edit waits for a push.
  case pending
  /// The app keeps the edit as a draft; see ``LocalEdits/hold(_:)``.
  case draft
  /// The edit was sent, and the remote has not answered yet.
  case sent
  /// The remote did not take the edit at this time. A push after this instant sends it again.
  case failed(retryAt: Timestamp)
  /// The remote refused the edit for good, with this reason of its own.
  ///
  /// It is sent again after another edit of the record, or by ``LocalEdits/retry(_:_:)``.
  case refused(reason: String)

  init(_ entry: OutboxEntry) {
    switch entry.state {
    case .refused(let reason, _): self = entry.isDraft ? .draft : .refused(reason: reason)
    case .postponed(let until): self = .failed(retryAt: until)
    case .waiting: self = entry.sent == nil ? .pending : .sent
    }
  }
}
