public import SyncModels
public import SyncPorts

/// A local edit in the outbox, with what it waits for.
public struct PendingEdit: Hashable, Sendable {
  /// The outbox entry of the edit.
  public var entry: OutboxEntry
  /// What the edit waits for.
  public var wait: Wait

  /// What an edit waits for, as of the snapshot that was read.
  public enum Wait: Hashable, Sendable {
    /// The next push: the edit has never been sent in its current form.
    case push
    /// The remote's answer: the edit was sent, and the next push sends it again unchanged.
    case answer
    /// A time that the remote named, or after which a failed edit is sent again.
    case time(Timestamp)
    /// Another edit of the record, or ``LocalEdits/retry(_:_:)``.
    ///
    /// The remote refused the edit for good, or its answer was lost and sending it again might apply
    /// it twice.
    case change(reason: String)
    /// The app, which keeps it as a draft; see ``LocalEdits/release(_:)``.
    case release
    /// Room at the remote, which was full when the last push ended.
    ///
    /// It had no room for new records. Each push tries again.
    case room
    /// Other records.
    ///
    /// The remote has a copy that refers to them, or a deletion that they delay, or the edit itself
    /// refers to them. A default waits for none by name: the first pull of its type tells of them.
    case records([RecordID], reason: String)
    /// An update of the app.
    ///
    /// The remote has a copy of a newer schema version, or the app no longer declares the type.
    case upgrade(reason: String)
  }

  /// The kind of ``PendingEdit/Wait``, for counting.
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// The case of ``PendingEdit/Wait`` with the same name.
    case push, answer, time, change, release, room, records, upgrade
  }

  /// The kind of what the edit waits for.
  public var kind: Kind {
    switch wait {
    case .push: .push
    case .answer: .answer
    case .time: .time
    case .change: .change
    case .release: .release
    case .room: .room
    case .records: .records
    case .upgrade: .upgrade
    }
  }

  /// When the edit is sent next, if a time is known.
  ///
  /// Otherwise it is sent with the next push, if ``isSentWithNextPush``.
  public var nextAttempt: Timestamp? {
    if case .time(let instant) = wait { instant } else { nil }
  }

  /// Whether the next push sends the edit, whenever that is.
  public var isSentWithNextPush: Bool {
    switch wait {
    case .push, .answer, .room: true
    case .time, .change, .release, .records, .upgrade: false
    }
  }

  /// The reason for a person, without record contents.
  public var reason: String {
    switch wait {
    case .push: "waits for the next push"
    case .answer: "was sent, and waits for an answer"
    case .time: "was postponed"
    case .change(let reason): entry.sent == nil ? "was refused: \(reason)" : "waits for the app: \(reason)"
    case .release: "is a draft"
    case .room: "waits for room at the remote"
    case .records(_, let reason): "waits for other records: \(reason)"
    case .upgrade(let reason): "waits for an update of the app: \(reason)"
    }
  }
}

extension PendingEdit {
  /// Returns a type's pending edits in a snapshot, oldest first.
  ///
  /// - Complexity: O(*p* log *m*) for *p* edits against a store of *m* records.
  public static func all(
    of entity: Entity, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit] {
    var edits: [PendingEdit] = []
    var portions = snapshot.portions(outbox: entity.type)
    while let entries = try portions.next() { edits += try read(entries, of: entity, in: snapshot) }
    return edits
  }

  /// Returns the oldest pending edits of a type in a snapshot, up to a limit.
  ///
  /// - Complexity: O(*n* log *m*) for a limit of *n* against a store of *m* records.
  package static func oldest(
    of entity: Entity, limit: Int, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit] {
    try read(try snapshot.portion(outbox: entity.type, after: nil, limit: limit), of: entity, in: snapshot)
  }

  /// Determines what some edits of one type wait for.
  ///
  /// - Complexity: O(*n* log *m*) for *n* edits against a store of *m* records.
  static func read(
    _ entries: [OutboxEntry], of entity: Entity?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [PendingEdit] {
    guard let type = entries.first?.id.type else { return [] }
    guard let entity, entity.access != .local else {
      let reason = entity == nil ? "it does not declare \(type)" : "it declares \(type) as local"
      return entries.map { PendingEdit(entry: $0, wait: .upgrade(reason: reason)) }
    }
    let copies = try waitingCopies(under: entries, of: type, in: snapshot)
    let isFull = try RemoteRoom.isLacking(in: snapshot)
    let references = entries.map { $0.requiredReferences(of: entity) }
    let held = Set(try unsent(among: Set(references.joined()), isFull: isFull, in: snapshot))
    let obstacles = try obstacles(to: entries, of: entity, in: snapshot)
    let companions = try companions(of: entries, in: snapshot)
    let areSeedsDue = try snapshot.areSeedsDue(type)
    return zip(entries, references).map { entry, references in
      let missing = references.filter(held.contains)
      var wait = entry.wait(copy: copies[entry.id], for: missing, isFull: isFull)
      if wait == .push, entry.isSeed, !areSeedsDue {
        wait = .records([], reason: "the first pull of \(type) tells whether the remote has the default")
      }
      if wait == .push, let others = companions[entry.id] {
        wait = .records(others, reason: "its atomic group has edits that are not sent now")
      }
      if wait == .push, let obstacle = obstacles[entry.id] {
        wait = .records(obstacle.records, reason: obstacle.reason)
      }
      return PendingEdit(entry: entry, wait: wait)
    }
  }

  /// Returns the obstacles to some deletions that other edits or a pull have to remove.
  private static func obstacles(
    to entries: [OutboxEntry], of entity: Entity?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: DeletionObstacle] {
    let deletions = entries.filter { $0.edit.content == .deletion }
    guard let entity, !deletions.isEmpty else { return [:] }
    let declared = try snapshot.registeredEntities()
    // Types that are no longer declared may close a circle with declared ones.
    guard let schema = try? SyncSchema(declared) else { return [:] }
    let gate = DeletionGate(entity: entity, schema: schema)
    var obstacles = try gate.obstacles(of: deletions, in: snapshot)
    for (entry, referrers) in zip(deletions, try gate.referrers(to: deletions, limit: 4, in: snapshot))
    where !referrers.isEmpty && obstacles[entry.id] == nil {
      obstacles[entry.id] = .referrers(referrers.map(\.id))
    }
    return obstacles
  }

  /// Returns the edits of the same atomic groups that keep some edits from being sent.
  private static func companions(
    of entries: [OutboxEntry], in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: [RecordID]] {
    guard try snapshot.hasAtomicGroups() else { return [:] }
    let unpushed = try snapshot.unpushedTypes()
    var companions: [RecordID: [RecordID]] = [:]
    for entry in entries {
      guard let group = try snapshot.atomicGroup(of: entry.id) else { continue }
      let kept = try snapshot.outbox(for: group.members).filter {
        $0.state != .waiting || unpushed.contains($0.id.type)
      }.map(\.id)
      if !kept.isEmpty { companions[entry.id] = kept }
    }
    return companions
  }

  private static func waitingCopies(
    under entries: [OutboxEntry], of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID: WithheldChange] {
    let counts = try snapshot.withheldCounts(type)
    guard WithheldChange.Kind.blocking.contains(where: { counts[$0, default: 0] > 0 }) else { return [:] }
    return try snapshot.withheld(of: entries.map(\.id)).filter {
      WithheldChange.Kind.blocking.contains($0.value.kind)
    }
  }

  /// Returns those of some records that the remote lacks even after the next push.
  private static func unsent(
    among ids: Set<RecordID>, isFull: Bool, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [RecordID] {
    if ids.isEmpty { return [] }
    var unsent: [RecordID] = []
    for entry in try snapshot.outbox(for: ids.sorted()) where entry.isNewToTheRemote {
      let waits = isFull || entry.state != .waiting
      let areSeedsDue = try snapshot.areSeedsDue(entry.id.type)
      if waits || (entry.isSeed && !areSeedsDue) { unsent.append(entry.id) }
    }
    return unsent
  }
}

extension OutboxEntry {
  fileprivate func wait(copy: WithheldChange?, for missing: [RecordID], isFull: Bool) -> PendingEdit.Wait {
    switch state {
    case .refused(let reason, _): return isDraft ? .release : .change(reason: reason)
    case .postponed(let until): return .time(until)
    case .waiting: break
    }
    if let copy, copy.kind == .incompatible { return .upgrade(reason: copy.reason) }
    if let copy { return .records(copy.waitsFor, reason: "the remote's copy \(copy.reason)") }
    if let first = missing.first {
      return .records(missing, reason: "it refers to \(first), which the remote does not have")
    }
    if isFull, isNewToTheRemote { return .room }
    return sent == nil ? .push : .answer
  }
}
