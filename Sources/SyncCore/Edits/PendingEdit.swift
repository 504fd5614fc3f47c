public import SyncModels
public import SyncPorts

/// A local edit in the outbox, with what it waits for.
public struct PendingEdit: Hashable, Sendable {
  /// The edit as it is kept.
  public var entry: OutboxEntry
  /// What it waits for.
  public var wait: Wait

  /// What an edit waits for. Each reason holds as of the snapshot that it was read from.
  public enum Wait: Hashable, Sendable {
    /// The next push: it has never been sent as it is.
    case push
    /// The remote's answer: it was sent, and the next push sends it again as it was.
    case answer
    /// An instant that the remote named, or after which an edit that it failed at is sent again.
    case time(Timestamp)
    /// Another edit of the record, or ``LocalEdits/retry(_:_:)``: the remote refused it for good.
    case change(reason: String)
    /// Room at the remote, which had none for new records when the last push ended; each push tries again.
    case room
    /// Other records. The remote has a copy that refers to them or a deletion that they hold up, or the edit itself refers to them.
    case records([RecordID], reason: String)
    /// An update of the app: the remote has a copy of a newer schema, or the app does not declare the type any more.
    case upgrade(reason: String)
  }

  /// What an edit waits for, without the particulars, to count by.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// See the case of ``PendingEdit/Wait`` with the name.
    case push, answer, time, change, room, records, upgrade
  }

  /// What the edit waits for, without the particulars.
  public var kind: Kind {
    switch wait {
    case .push: .push
    case .answer: .answer
    case .time: .time
    case .change: .change
    case .room: .room
    case .records: .records
    case .upgrade: .upgrade
    }
  }

  /// When the edit is sent next, where an instant is known; the next push otherwise, if ``isSentWithNextPush``.
  public var nextAttempt: Timestamp? {
    if case .time(let instant) = wait { instant } else { nil }
  }

  /// Whether the next push sends it, whenever that is.
  public var isSentWithNextPush: Bool {
    switch wait {
    case .push, .answer, .room: true
    case .time, .change, .records, .upgrade: false
    }
  }

  /// The reason for a person, without record contents.
  public var reason: String {
    switch wait {
    case .push: "waits for the next push"
    case .answer: "was sent, and waits for an answer"
    case .time: "was put off"
    case .change(let reason): "was refused: \(reason)"
    case .room: "waits for room at the remote"
    case .records(_, let reason): "waits for other records: \(reason)"
    case .upgrade(let reason): "waits for an update of the app: \(reason)"
    }
  }
}

extension PendingEdit {
  /// A type's pending edits in a snapshot, in the order in which they were made.
  ///
  /// - Complexity: O(*p* log *m*) for *p* edits against a store of *m* records.
  public static func all(
    of entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit] {
    var edits: [PendingEdit] = []
    var last: EditStamp?
    while true {
      let entries = try snapshot.portion(outbox: entity.type, after: last)
      guard let end = entries.last else { return edits }
      last = end.edit.stamp
      edits += try read(entries, of: entity, in: snapshot)
    }
  }

  /// Finds out what some edits of one type wait for.
  ///
  /// - Complexity: O(*n* log *m*) for *n* edits against a store of *m* records.
  static func read(
    _ entries: [OutboxEntry], of entity: Entity?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit] {
    guard let type = entries.first?.id.type else { return [] }
    guard entity != nil else {
      let reason = "it does not declare \(type)"
      return entries.map { PendingEdit(entry: $0, wait: .upgrade(reason: reason)) }
    }
    let copies = try waitingCopies(under: entries, of: type, in: snapshot)
    let isFull = try RemoteRoom.isLacking(in: snapshot)
    let references = entries.map { entry in entity.map { entry.requiredReferences(of: $0) } ?? [] }
    let held = Set(try unsent(among: Set(references.joined()), isFull: isFull, in: snapshot))
    let obstacles = try obstacles(to: entries, of: entity, in: snapshot)
    return zip(entries, references).map { entry, references in
      let missing = references.filter(held.contains)
      var wait = entry.wait(copy: copies[entry.id], for: missing, isFull: isFull)
      if wait == .push, let obstacle = obstacles[entry.id] {
        wait = .records(obstacle.records, reason: obstacle.reason)
      }
      return PendingEdit(entry: entry, wait: wait)
    }
  }

  /// What keeps those of some deletions back that other edits, or a pull, have to let go.
  private static func obstacles(
    to entries: [OutboxEntry], of entity: Entity?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: DeletionObstacle] {
    let deletions = entries.filter { $0.edit.content == .deletion }
    guard let entity, !deletions.isEmpty else { return [:] }
    let declared = try snapshot.registeredEntities()
    // Types that are no longer declared may close a circle with those that are.
    guard let schema = try? SyncSchema(declared) else { return [:] }
    let gate = DeletionGate(entity: entity, schema: schema)
    var obstacles = try gate.obstacles(of: deletions, in: snapshot)
    for (entry, referrers) in zip(deletions, try gate.referrers(to: deletions, limit: 4, in: snapshot))
    where !referrers.isEmpty && obstacles[entry.id] == nil {
      obstacles[entry.id] = .referrers(referrers.map(\.id))
    }
    return obstacles
  }

  private static func waitingCopies(
    under entries: [OutboxEntry], of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: WithheldChange] {
    let counts = try snapshot.withheldCounts(type)
    guard WithheldChange.Kind.blocking.contains(where: { counts[$0, default: 0] > 0 }) else { return [:] }
    var copies: [RecordID: WithheldChange] = [:]
    for copy in try snapshot.withheld(for: entries.map { .record($0.id) })
    where WithheldChange.Kind.blocking.contains(copy.kind) {
      if case .record(let id) = copy.key { copies[id] = copy }
    }
    return copies
  }

  /// Those of some records that the remote has not got, and that the next push does not bring there.
  private static func unsent(
    among ids: Set<RecordID>, isFull: Bool, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID] {
    if ids.isEmpty { return [] }
    return try snapshot.outbox(for: ids.sorted()).filter { entry in
      entry.isNewToTheRemote && (isFull || entry.state != .waiting)
    }.map(\.id)
  }
}

extension OutboxEntry {
  fileprivate func wait(copy: WithheldChange?, for missing: [RecordID], isFull: Bool) -> PendingEdit.Wait {
    switch state {
    case .refused(let reason, _): return .change(reason: reason)
    case .postponed(let until): return .time(until)
    case .waiting: break
    }
    if let copy, copy.kind == .incompatible { return .upgrade(reason: copy.reason) }
    if let copy { return .records(copy.waitsFor, reason: "the remote's copy \(copy.reason)") }
    if let first = missing.first {
      return .records(missing, reason: "it refers to \(first), which the remote has not got")
    }
    if isFull, isNewToTheRemote { return .room }
    return sent == nil ? .push : .answer
  }
}

/// What the last push found out about room at the remote.
enum RemoteRoom {
  private static let key = "push/full"

  /// Whether the remote had no room for new records.
  static func isLacking(in snapshot: any StoreSnapshot) throws(SyncError) -> Bool {
    try snapshot.value(forKey: key) != nil
  }

  /// Notes whether it had.
  static func note(isLacking: Bool, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.setValue(isLacking ? [1] : nil, forKey: key)
  }
}
