package import SyncModels
package import SyncPorts

/// Writes local edits within one transaction.
///
/// Each edit has a row and an outbox entry. The writer also keeps the clock that stamps them.
struct EditWriter {
  let schema: SyncSchema
  let transaction: any StoreTransaction
  let now: Timestamp
  let maximumClockSkew: Duration
  private var clock: HybridClock
  private var listed: [RecordType: Bool] = [:]
  /// Whether the remote has given any record a key of its own, once it is known.
  var hasMoves: Bool?
  // Edits of one batch are mostly of one type.
  private var lastEntity: Entity?
  /// The records that these edits change for readers.
  var changed = ChangedRecords.records([])
  /// The records that these edits leave in the outbox.
  private(set) var edited: [RecordID] = []
  /// The records that these edits make visible to readers.
  private var appeared: [RecordID] = []
  /// The records that these edits delete, or give another natural key.
  private var ended: [RecordType: Set<RecordID>] = [:]

  /// Creates a writer that continues the store's edit clock.
  ///
  /// - Parameter maximumClockSkew: See ``EditOptions/maximumClockSkew``.
  init(
    _ schema: SyncSchema, at now: Timestamp, maximumClockSkew: Duration, in transaction: any StoreTransaction
  ) throws(SyncError) {
    self.schema = schema
    self.transaction = transaction
    self.now = now
    self.maximumClockSkew = maximumClockSkew
    clock = try HybridClock.load(from: transaction)
  }

  /// Saves the state for later edits. Call once, after the last edit.
  func finish() throws(SyncError) {
    if !appeared.isEmpty { try AwaitedRecords.remember(appeared, in: transaction) }
    for (type, winners) in ended.sorted(by: { $0.key < $1.key }) {
      try PendingLosers.endGroups(of: winners, type, in: transaction)
    }
    try ArrivedDuplicates.remember(changed, of: schema, in: transaction)
    try transaction.weakenDeclarations(by: schema)
    try transaction.demandPlaces(of: changed, by: schema)
    try clock.save(in: transaction)
  }

  /// Edits a record.
  ///
  /// - Throws: `invalidConfiguration` for a type that is not declared, `invalidEdit` for an edit
  ///   that is not valid.
  mutating func edit(
    _ id: RecordID, _ change: (Record?) throws(SyncError) -> Edit.Content
  ) throws(SyncError) {
    let entity = try entity(of: id)
    let shown = try transaction.records(withIDs: [id]).first ?? nil
    // An edit of a hidden record starts from the copy that the remote still has, and shows the
    // record again.
    let hidden =
      shown == nil ? try HiddenRecords(schema: schema, transaction: transaction).copy(of: id) : nil
    let pending = try transaction.outbox(for: [id]).first
    // A record that is made again before its deletion was pushed is the same record.
    let content = try referring(try change(shown ?? hidden), of: id, entity)
      .keepingImmutable(shown ?? hidden, entity).keepingImmutable(pending?.base.record, entity)
    if let hidden, content.isShown(by: hidden) { return try showAgain(hidden, entity) }
    if shown.map({ content.isShown(by: $0) }) ?? (hidden == nil && content == .deletion) { return }
    let base = if let pending { pending.baseOfNextEdit } else { try base(of: id, shown: shown ?? hidden) }
    var entry = entry(for: content, of: id, entity, on: base, after: pending)
    if let pending, pending.undoes(content, entity), let copy = pending.base.record {
      entry.edit.content = .upsert(copy.payload, schemaVersion: copy.schemaVersion)
    }
    try check(entry, entity)
    if hidden != nil { try transaction.release([.record(id)]) }
    var batch = Batch()
    batch.add(entry, entity)
    try write(batch)
    if let shown, endsGroup(of: shown, content, entity) { ended[id.type, default: []].insert(id) }
    if shown == nil, content != .deletion { appeared.append(id) }
  }

  /// Inserts a record that gives way to whatever the remote has.
  ///
  /// - Returns: Whether the record was inserted. One that is here, or is known as deleted or
  ///   withheld, stays as it is.
  mutating func seed(_ id: RecordID, _ content: Edit.Content) throws(SyncError) -> Bool {
    let entity = try entity(of: id)
    guard try transaction.knownState(of: id) == nil, try transaction.withheld(for: [.record(id)]).isEmpty
    else {
      return false
    }
    let content = try referring(content, of: id, entity)
    let edit = Edit(content, stamp: clock.seedStamp())
    let entry = OutboxEntry(
      id: id, edit: Edit(content.stamped(edit.stamp, by: entity), stamp: edit.stamp), base: .none)
    try check(entry, entity)
    var batch = Batch()
    batch.add(entry, entity)
    try write(batch)
    appeared.append(id)
    return true
  }

  /// Writes a live record to the remote again, which has deleted it.
  ///
  /// A pending edit of the record goes with it.
  mutating func restore(_ shown: Record, over tombstone: Tombstone) throws(SyncError) {
    let entity = try entity(of: shown.id)
    try transaction.release([.record(shown.id)])
    let restored: OutboxEntry
    // An edit that may have arrived before the deletion is another effect, with a stamp of its own.
    if var pending = try transaction.outbox(for: [shown.id]).first, pending.sent != pending.edit {
      (pending.base, pending.sent) = (.deleted(tombstone), nil)
      (pending.state, pending.attempts, pending.leaves) = (.waiting, 0, [])
      restored = pending
    } else {
      restored = entry(
        for: .upsert(shown.payload, schemaVersion: shown.schemaVersion), of: shown.id, entity,
        on: .deleted(tombstone), after: nil)
    }
    var batch = Batch()
    batch.add(restored, entity)
    try write(batch)
  }

  /// Whether an edit by the app removes a record's natural key, or changes it.
  ///
  /// If the record has won against others, their group is then over.
  private func endsGroup(of shown: Record, _ content: Edit.Content, _ entity: Entity) -> Bool {
    guard let key = entity.naturalKey(of: shown) else { return false }
    guard let payload = content.payload else { return true }
    var record = shown
    record.fields = (try? entity.fields(of: payload)) ?? []
    return !(entity.naturalKey(of: record)?.isSameUTF8(as: key) ?? false)
  }

  /// Returns the outbox entry of an edit, with its stamp.
  ///
  /// The edit's own stamp orders the outbox. A payload that a rebuild writes carries the stamp of
  /// the record's last write, so that every replica sees it.
  ///
  /// - Parameter former: The record's previous edit, which may have been sent, and perhaps
  ///   received.
  mutating func entry(
    for content: Edit.Content, of id: RecordID, _ entity: Entity, on base: OutboxEntry.Base,
    after former: OutboxEntry?, author: OutboxEntry.Author = .app
  ) -> OutboxEntry {
    let seen = [former?.edit.stamp, former?.sent?.stamp, base.lastStamp(by: entity)].compactMap(\.self).max()
    let stamp = clock.stamp(at: now, after: seen, bound: maximumClockSkew)
    var entry = OutboxEntry(
      id: id, edit: Edit(content, stamp: stamp), base: base, sent: former?.sent, author: author)
    // A draft stays one, and so does what another account's person has written. Of a deleted record there is
    // nothing to keep back as a draft, and what a rebuild deletes has given its edit to the winner.
    if let former, former.isHeldByTheApp, content != .deletion || author == .app && !former.isDraft {
      entry.state = former.state
    }
    // What was sent goes first and unchanged, so its attempts still count.
    if let former, former.sent != nil {
      entry.attempts = former.attempts
      // The app's edit ends a pause. A rebuild's may come in the sync that began the pause.
      if author != .app, case .postponed = former.state { entry.state = former.state }
    }
    // The last write of a record without a modification time is unknown.
    if author == .app || entry.lastWrite.physical.microseconds > 0 {
      entry.edit.content = content.stamped(
        entry.lastWrite, by: entity, isKnown: entry.isKnownToTheRemote)
    }
    entry.leaves = entry.departures(of: entity)
    return entry
  }

  // MARK: Many records

  /// A change of a live record.
  struct Change {
    var shown: Record
    var content: Edit.Content
    var author = OutboxEntry.Author.app
  }

  /// Edits live records, each once, in few calls; stamps follow this order.
  ///
  /// References of written records are checked after all are written, so records may come before
  /// their targets. The caller makes sure that no record refers to a deleted one.
  ///
  /// - Parameter pending: The outbox entries of those of the records that have one.
  mutating func edit(_ changes: [Change], pending: [RecordID: OutboxEntry]) throws(SyncError) {
    var batch = Batch()
    batch.changes.queued.reserveCapacity(changes.count)
    for change in changes {
      let id = change.shown.id
      let entity = try entity(of: id)
      let content = change.content.keepingImmutable(change.shown, entity)
      if content.isShown(by: change.shown) { continue }
      let former = pending[id]
      batch.add(
        entry(
          for: content, of: id, entity, on: former?.base ?? .shown(change.shown), after: former,
          author: change.author),
        entity)
    }
    try write(batch)
    try checkAreLive(
      Array(Set(batch.targets)), during: "editing \(Counted(batch.changes.put.count, "record"))")
  }

  /// Rows and outbox entries to write.
  struct Batch {
    var changes = StoreChanges()
    /// The records that the written records must refer to.
    var targets: [RecordID] = []
    var moot: [OutboxEntry] = []

    mutating func add(_ entry: OutboxEntry, _ entity: Entity) {
      let isMoot = entry.isMoot
      switch entry.shown(of: entity, isMoot: isMoot) {
      case .live(let record):
        changes.put.append(record)
        targets += entity.requiredReferences(of: record)
      case .deleted(let tombstone): changes.deleted.append(tombstone)
      }
      if entity.access == .local, !entry.isKnownToTheRemote {
        moot.append(OutboxEntry(id: entry.id, edit: entry.edit, base: .none))
      } else if isMoot {
        moot.append(entry)
      } else {
        changes.queued.append(entry)
      }
    }
  }

  /// Writes the rows and entries of a batch.
  mutating func write(_ batch: Batch) throws(SyncError) {
    try transaction.apply(batch.changes)
    edited += batch.changes.queued.lazy.map(\.id)
    let ids = batch.changes.put.map(\.id) + batch.changes.deleted.map(\.id)
    // A listing that began before the edits does not contain them, and its sweep must not remove
    // them.
    try markListed(ids)
    try transaction.giveUp(batch.moot)
    // A default to which an edit leads back waits to be pushed as before.
    for entry in batch.moot {
      if let seed = try seed(below: entry) { try transaction.queue([seed]) }
    }
    for id in ids { changed.insert(id) }
  }

  /// The default that an edit was made on; `nil` for any other base.
  ///
  /// Without a stamp, it is told by its type, which neither a remote nor a bundle has filled.
  private mutating func seed(below entry: OutboxEntry) throws(SyncError) -> OutboxEntry? {
    if let seed = entry.seed(below: try entity(of: entry.id)) { return seed }
    guard let copy = entry.base.record, copy.version == .unversioned,
      try transaction.checkpoint(for: entry.id.type) == nil
    else { return nil }
    let content = Edit.Content.upsert(copy.payload, schemaVersion: copy.schemaVersion)
    return OutboxEntry(id: entry.id, edit: Edit(content, stamp: clock.seedStamp()), base: .none)
  }

  /// Queues the records of a type that was ``Entity/Access/local`` as insertions: no remote ever had them.
  ///
  /// The store has not kept when they were written. They get a stamp before that of every edit, so that the
  /// device which is updated last does not overwrite what others have changed since. They are no defaults:
  /// one that loses is a conflict.
  mutating func insertLocalRecords(of entity: Entity) throws(SyncError) {
    // A clean-up may have hidden some, and a listing lacks these too.
    var hidden = transaction.portions(withheld: entity.type, [.hidden])
    while let entries = try hidden.next() {
      _ = try reveal(
        entries.compactMap {
          if case .upsert(let copy) = $0.change, copy.version == .unversioned { copy.id } else { nil }
        })
    }
    var portions = transaction.portions(of: Query(entity.type))
    while let records = try portions.next() {
      let pending = Set(try transaction.outbox(for: records.map(\.id)).map(\.id))
      var batch = Batch()
      for record in records where record.version == .unversioned && !pending.contains(record.id) {
        var stamp = clock.seedStamp()
        stamp.physical = stamp.physical + .microseconds(1)
        let content = Edit.Content.upsert(record.payload, schemaVersion: record.schemaVersion)
        let edit = Edit(content.stamped(stamp, by: entity), stamp: stamp)
        var entry = OutboxEntry(id: record.id, edit: edit, base: .none)
        // The app declares that it sends nothing of the type.
        if entity.access == .readOnly { entry.keepBack(at: now) }
        batch.add(entry, entity)
      }
      try write(batch)
    }
  }

  // MARK: Discarding

  /// Discards a record's pending edit, with those of its group, and shows the last remote states
  /// again.
  mutating func discard(_ id: RecordID) throws(SyncError) {
    _ = try entity(of: id)
    let ids = try transaction.atomicGroup(of: id)?.members ?? [id]
    // Records were written before those that refer to them.
    let entries = try transaction.outbox(for: ids).sorted { $1.edit.stamp < $0.edit.stamp }
    for entry in entries { try discard(entry) }
  }

  private mutating func discard(_ entry: OutboxEntry) throws(SyncError) {
    let id = entry.id
    let entity = try entity(of: id)
    if entry.sent != nil, !entry.isRefused {
      throw SyncError(
        .invalidEdit, during: "discarding the edit of \(id)",
        "It may have reached the remote already; push first, or edit the record again.")
    }
    var (base, seed) = (entry.base, try seed(below: entry))
    // A default goes if the remote has perhaps made the record, of which it would be another one, or
    // if it refers to what is gone.
    if seed != nil, case .live(let shown) = base.row(of: id, entity) {
      let missing = try missing(among: entity.requiredReferences(of: shown))
      if entry.sent != nil || !missing.isEmpty { (base, seed) = (.none, nil) }
    }
    switch base.row(of: id, entity) {
    case .live(let record):
      let missing = try missing(among: entity.requiredReferences(of: record))
      if missing.isEmpty {
        try transaction.put([record])
        if entry.edit.content == .deletion { appeared.append(id) }
      } else {
        // The copy is shown once its targets are back.
        try checkIsNotReferredTo(id)
        try park(record, waitingFor: missing)
        try transaction.delete([Tombstone(id: id, version: record.version, entityTag: record.entityTag)])
      }
    case .deleted(let tombstone):
      try checkIsNotReferredTo(id)
      try transaction.delete([tombstone])
    }
    try transaction.giveUp([entry])
    if let seed { try transaction.queue([seed]) }
    changed.insert(id)
  }

  // MARK: Effects of an edit

  /// Shows a hidden record again, unchanged.
  private mutating func showAgain(_ hidden: Record, _ entity: Entity) throws(SyncError) {
    try checkReferences(of: hidden.withFields(of: entity), entity)
    if try !reveal([hidden.id]).isEmpty { appeared.append(hidden.id) }
  }

  /// Shows hidden records again.
  private mutating func reveal(_ ids: some Collection<RecordID>) throws(SyncError) -> [Record] {
    let records = try HiddenRecords(schema: schema, transaction: transaction).reveal(ids)
    for record in records { changed.insert(record.id) }
    return records
  }

  /// Marks records as listed, if their types are being listed.
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

  func base(of id: RecordID, shown: Record?) throws(SyncError) -> OutboxEntry.Base {
    if let shown { return .shown(shown) }
    guard let state = try transaction.knownState(of: id), state.version != .unversioned else { return .none }
    return .deleted(Tombstone(id: id, version: state.version))
  }

  // MARK: Invalid edits

  mutating func entity(of id: RecordID) throws(SyncError) -> Entity {
    guard !id.key.isEmpty else {
      throw SyncError(.invalidEdit, during: "editing \(id)", "A record's key is not empty.")
    }
    if let lastEntity, lastEntity.type == id.type { return lastEntity }
    guard let entity = schema[id.type] else {
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
    guard let first = try missing(among: targets).first else { return }
    throw SyncError(
      .invalidEdit, during: operation(), "It would refer to \(first), which is not here.")
  }

  /// Returns those of some records that are not live, after showing hidden ones again.
  private mutating func missing(among targets: [RecordID]) throws(SyncError) -> [RecordID] {
    if targets.isEmpty { return [] }
    var missing = Set(try transaction.absent(among: targets))
    if !missing.isEmpty { missing.subtract(try reveal(missing).map(\.id)) }
    return missing.sorted()
  }

  /// Parks the last remote state of a record, unless a newer one is withheld already.
  private func park(_ record: Record, waitingFor missing: [RecordID]) throws(SyncError) {
    guard try transaction.withheld(for: [.record(record.id)]).isEmpty else { return }
    try transaction.withhold([
      .parked(
        record, waitingFor: missing, pass: try transaction.checkpoint(for: record.id.type)?.lastPass ?? 0,
        finder: .store, since: now)
    ])
  }

  private func checkIsNotReferredTo(_ id: RecordID) throws(SyncError) {
    guard !schema.referrers(to: id.type).isEmpty else { return }
    if try transaction.referenced(among: [id], by: schema).contains(id) {
      throw SyncError(
        .invalidEdit, during: "deleting \(id)",
        "Other records refer to it: delete them, or point them elsewhere, first.")
    }
    // The remote still has the hidden records, and their references would dangle there.
    let hidden = HiddenRecords(schema: schema, transaction: transaction)
    if let referrer = try hidden.firstReferring(to: id) {
      throw SyncError(
        .invalidEdit, during: "deleting \(id)",
        "The hidden record \(referrer) refers to it: delete that one, or point it elsewhere, first.")
    }
  }
}

extension OutboxEntry.Base {
  /// The latest known stamp of the last remote state.
  ///
  /// Edits of the record get later stamps, however far ahead it is.
  func lastStamp(by entity: Entity) -> EditStamp? {
    let stated =
      switch self {
      case .none: nil as EditStamp?
      case .copy(let record): entity.statedStamp(in: record.payload)
      case .deleted(let tombstone): tombstone.stamp
      }
    guard let version, version != .unversioned else { return stated }
    let taken = EditStamp(physical: version.modifiedAt)
    return max(stated ?? taken, taken)
  }
}

extension StoreTransaction {
  /// Removes edits from the outbox that will not be pushed.
  func giveUp(_ entries: [OutboxEntry]) throws(SyncError) {
    guard !entries.isEmpty else { return }
    try endEdits(entries.map(\.id))
    try completeDeletions(of: entries)
    var types = Set(entries.filter { $0.base.record != nil }.map(\.id.type))
    // A copy that waits for another record is shown as soon as that arrives.
    types.formUnion(try withheld(of: entries.map(\.id)).keys.lazy.map(\.type))
    for type in types.sorted() { try ListingGap.expose(type, in: self) }
  }

  /// Deletes rows anew whose pending deletion is given up.
  ///
  /// A store may have deferred a part of a deletion for as long as it was pending.
  private func completeDeletions(of entries: [OutboxEntry]) throws(SyncError) {
    let deletions = entries.filter { $0.edit.content == .deletion }
    guard !deletions.isEmpty else { return }
    var deleted: [Tombstone] = []
    let states = try states(of: deletions.map(\.id), comparing: [])
    for (entry, state) in zip(deletions, states) {
      guard let state, state.isDeleted else { continue }
      let tag = entry.base.version == state.version ? entry.base.record?.entityTag : nil
      deleted.append(Tombstone(id: entry.id, version: state.version, entityTag: tag))
    }
    if !deleted.isEmpty { try delete(deleted) }
  }
}

extension HybridClock {
  private static let key = ValueKey<HybridClock>(.edits, "clock")

  /// Loads the clock of the store's last edit. The replica's name is the store's.
  package static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> HybridClock {
    if let clock = try snapshot.value(of: key) { return clock }
    return HybridClock(replica: try snapshot.storeIdentity())
  }

  /// Saves the clock for later edits.
  package func save(in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(self, for: Self.key)
  }
}
