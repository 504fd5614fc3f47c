import SyncModels
import SyncPorts

/// Makes local edits within one transaction: the row and the outbox entry of each, and the clock that stamps them.
struct EditWriter {
  private let graph: EntityGraph
  let transaction: any StoreTransaction
  private let now: Timestamp
  private let clockBound: Duration
  private var clock: HybridClock
  private var listed: [RecordType: Bool] = [:]
  // Edits that come together are mostly of one type.
  private var lastEntity: Entity?
  /// The records that readers see otherwise by these edits.
  var changed = SyncEvent.ChangedRecords.some([])
  /// The records that readers see now and did not before.
  private var appeared: [RecordID] = []

  /// Goes on where the store's last edit left the clock.
  ///
  /// - Parameter clockBound: See ``EditOptions/clockBound``.
  init(
    _ graph: EntityGraph, at now: Timestamp, clockBound: Duration, in transaction: any StoreTransaction
  ) throws(SyncError) {
    self.graph = graph
    self.transaction = transaction
    self.now = now
    self.clockBound = clockBound
    clock = try HybridClock.load(from: transaction)
  }

  /// Writes what has to be there for the next edits; to be called once, after the last one.
  func finish() throws(SyncError) {
    if !appeared.isEmpty { try AwaitedRecords.note(appeared, in: transaction) }
    try clock.save(in: transaction)
  }

  /// Makes a record what somebody wants it to be.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared, `invalidEdit` for an edit that cannot stand.
  mutating func edit(
    _ id: RecordID, _ change: (Record?) throws(SyncError) -> Edit.Content
  ) throws(SyncError) {
    let entity = try entity(of: id)
    var shown = try transaction.records(withIDs: [id]).first ?? nil
    // Whoever edits a hidden record wants it back.
    if shown == nil { shown = try reveal([id]).first { $0.id == id } }
    let pending = try transaction.outbox(for: [id]).first
    let content = try change(shown)
    if shown.map({ content.isShown(by: $0) }) ?? (content == .deletion) { return }
    let base = if let pending { pending.base } else { try base(of: id, shown: shown) }
    let entry = entry(for: content, of: id, entity, on: base, sent: pending?.sent)
    try check(entry, entity)
    var batch = Batch()
    batch.add(entry, entity)
    try write(batch)
    if shown == nil { appeared.append(id) }
  }

  /// The outbox entry of an edit, with its stamp.
  ///
  /// - Parameter sent: What has been sent of the record's edits before, and perhaps been received.
  mutating func entry(
    for content: Edit.Content, of id: RecordID, _ entity: Entity, on base: OutboxEntry.Base, sent: Edit?
  ) -> OutboxEntry {
    let stamp = clock.stamp(at: now, after: lastStamp(of: base, entity))
    return OutboxEntry(
      id: id, edit: Edit(content.stamped(stamp, by: entity), stamp: stamp), base: base, sent: sent)
  }

  /// Gives up a record's pending edit, and shows the remote's last word again.
  mutating func discard(_ id: RecordID) throws(SyncError) {
    let entity = try entity(of: id)
    guard let entry = try transaction.outbox(for: [id]).first else { return }
    if entry.sent != nil {
      throw SyncError(
        .invalidEdit, during: "discarding the edit of \(id)",
        "It may have reached the remote already; push first, or edit the record again.")
    }
    switch entry.base.row(of: id, entity) {
    case .live(let record):
      try checkReferences(of: record, entity)
      try transaction.put([record])
      if entry.edit.content == .deletion { appeared.append(id) }
    case .deleted(let tombstone):
      try checkIsNotReferredTo(id)
      try transaction.delete([tombstone])
    }
    try transaction.giveUp([entry])
    changed.insert(id)
  }

  // MARK: What goes with an edit

  /// Shows records again that were hidden.
  private mutating func reveal(_ ids: some Collection<RecordID>) throws(SyncError) -> [Record] {
    let records = try HiddenRecords(graph: graph, transaction: transaction).reveal(ids)
    for record in records { changed.insert(record.id) }
    return records
  }

  /// Takes records for listed where their types are being listed.
  mutating func markListed(_ ids: [RecordID]) throws(SyncError) {
    var marked: [RecordID] = []
    var type: RecordType?
    var isListed = false
    for id in ids {
      if id.type != type {
        type = id.type
        isListed = try isBeingListed(id.type)
      }
      if isListed { marked.append(id) }
    }
    if !marked.isEmpty { try transaction.mark(marked) }
  }

  private mutating func isBeingListed(_ type: RecordType) throws(SyncError) -> Bool {
    if let known = listed[type] { return known }
    let isListed = try transaction.checkpoint(for: type)?.markPass != nil
    listed[type] = isListed
    if isListed { try ListingGap.open(for: type, in: transaction) }
    return isListed
  }

  private func base(of id: RecordID, shown: Record?) throws(SyncError) -> OutboxEntry.Base {
    if let shown { return .shown(shown) }
    guard let state = try transaction.state(of: id), state.version != .unversioned else { return .none }
    return .deleted(Tombstone(id: id, version: state.version))
  }

  /// The stamp that the next edit of the record has to come after.
  private func lastStamp(of base: OutboxEntry.Base, _ entity: Entity) -> EditStamp? {
    guard case .copy(let record) = base, record.version != .unversioned else { return nil }
    return entity.stamp(
      in: record.payload, takenAt: record.version.modifiedAt, at: now, clockBound: clockBound
    ).believed
  }

  // MARK: What cannot stand

  mutating func entity(of id: RecordID) throws(SyncError) -> Entity {
    guard !id.key.isEmpty else {
      throw SyncError(.invalidEdit, during: "editing \(id)", "A record's key is not empty.")
    }
    if let lastEntity, lastEntity.type == id.type { return lastEntity }
    guard let entity = graph[id.type] else {
      throw SyncError(
        .invalidConfiguration, during: "editing \(id)", "The record type \(id.type) is not declared.")
    }
    lastEntity = entity
    return entity
  }

  private mutating func check(_ entry: OutboxEntry, _ entity: Entity) throws(SyncError) {
    switch entry.edit.content {
    case .deletion:
      try checkIsNotReferredTo(entry.id)
    case .upsert(let payload, let schemaVersion):
      do {
        let fields = try entity.fields(of: payload)
        let record = Record(
          id: entry.id, version: .unversioned, schemaVersion: schemaVersion, payload: payload,
          fields: fields)
        try checkReferences(of: record, entity)
      } catch let error as SyncError {
        throw error
      } catch {
        throw SyncError(
          .invalidEdit, during: "editing \(entry.id)", "The payload is not one JSON object: \(error).")
      }
    }
  }

  private mutating func checkReferences(of record: Record, _ entity: Entity) throws(SyncError) {
    try checkAreLive(entity.requiredReferences(of: record), during: "editing \(record.id)")
  }

  mutating func checkAreLive(
    _ targets: [RecordID], during operation: @autoclosure () -> String
  ) throws(SyncError) {
    guard !targets.isEmpty else { return }
    var missing = Set(try transaction.absent(among: targets))
    if !missing.isEmpty { missing.subtract(try reveal(missing).map(\.id)) }
    guard let first = missing.sorted().first else { return }
    throw SyncError(
      .invalidEdit, during: operation(), "It would refer to \(first), which is not here.")
  }

  private func checkIsNotReferredTo(_ id: RecordID) throws(SyncError) {
    guard !graph.referrers(to: id.type).isEmpty, try transaction.referenced(among: [id]).contains(id) else {
      return
    }
    throw SyncError(
      .invalidEdit, during: "deleting \(id)",
      "Other records refer to it: delete them, or point them elsewhere, first.")
  }
}

extension OutboxEntry {
  /// Whether nothing is left to tell the remote: the record is as the remote knows it, or was never known to it and is gone again.
  var isMoot: Bool {
    guard sent == nil else { return false }
    return switch edit.content {
    case .deletion: if case .copy = base { false } else { true }
    case .upsert(let payload, _): base.record?.payload.hasSameMembers(as: payload) ?? false
    }
  }
}

extension OutboxEntry.Base {
  /// The remote's last word on a record without an edit, which the record's row shows.
  static func shown(_ record: Record) -> OutboxEntry.Base {
    var record = record
    record.fields = []
    return .copy(record)
  }
}

extension OutboxEntry {
  /// What the record's row shows by the edit: the remote's own bytes where nothing is left to tell it.
  func shown(of entity: Entity, isMoot: Bool) -> EditSettlement.Row {
    isMoot ? base.row(of: id, entity) : row(of: entity)
  }
}

extension Edit.Content {
  /// Whether it is what a record shows already.
  func isShown(by record: Record) -> Bool {
    guard case .upsert(let payload, let schemaVersion) = self else { return false }
    return schemaVersion == record.schemaVersion && payload == record.payload
  }

  /// The content with the edit's stamp, where the type declares a field for it.
  fileprivate func stamped(_ stamp: EditStamp, by entity: Entity) -> Edit.Content {
    guard case .upsert(let payload, let schemaVersion) = self else { return self }
    return .upsert(entity.stamped(payload, stamp), schemaVersion: schemaVersion)
  }
}

extension HybridClock {
  private static let key = "edits/clock"

  /// The clock as the store's last edit left it. The replica's name is the store's.
  static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> HybridClock {
    if let clock = try snapshot.decoded(HybridClock.self, forKey: key) { return clock }
    return HybridClock(replica: try snapshot.storeIdentity())
  }

  func save(in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.encode(self, forKey: Self.key)
  }
}
