import SyncJSON
import SyncModels
import SyncPorts

/// A record that has another key at the remote: one of the remote's own, or one that an edit has led to.
///
/// The record, its edits, what is kept beside it and every reference to it move to that key, within
/// the transaction that settles the answer. The former key is remembered, as a screen of the app may
/// still hold it.
struct RecordMove {
  private let settler: EditSettler
  private let context: MergeContext
  /// The key that the record has here.
  let former: RecordID
  /// The remote's copy.
  let copy: Record
  private let transaction: any StoreTransaction

  private var schema: SyncSchema { context.schema }
  private var entity: Entity { settler.entity }

  init(
    _ former: RecordID, to copy: Record, by merge: PageMerge, in transaction: any StoreTransaction
  ) {
    settler = merge.settler
    context = merge.context
    self.former = former
    self.copy = copy
    self.transaction = transaction
  }

  /// Moves the record, as far as it is here.
  ///
  /// - Parameter tally: Notes what changes for readers.
  /// - Returns: The record's entry under the new key, which the answer settles; `nil` if the record
  ///   is under that key already, and the copy is merged like any other.
  func run(_ tally: inout Tally) throws(SyncError) -> OutboxEntry? {
    guard var entry = try transaction.outbox(for: [former]).first else { return nil }
    // A pull was faster, and a rebuild has taken the record for a duplicate of itself.
    if let sent = entry.sent, entry.isLoser(to: copy.id) { (entry.edit, entry.author) = (sent, .app) }
    let names = keyMembers(since: (entry.sent ?? entry.edit).content.payload)
    let moved = try settle(renamed(entry, names), &tally)
    try repoint(form: names.first.flatMap { theirs[$0] }, &tally)
    try transaction.endEdits([former])
    // The remote may have deleted a record of that key, whose older copies are not to be shown again.
    let version = try transaction.state(of: former)?.version ?? .unversioned
    try transaction.delete([Tombstone(id: former, version: version)])
    // A note that a listing lacked the record is about the one that was there before. Of a record that the
    // remote had, whatever is withheld is older than the move.
    let withheld = try transaction.withheld(for: [.record(former)])
      .filter { $0.kind == .missing || entry.base != .none }
    if !withheld.isEmpty { try transaction.release(withheld.map(\.key)) }
    try ExpiringValues.move([(former, copy.id)], in: transaction)
    try ThrottleKeys(former).move(to: copy.id, in: transaction)
    try PendingLosers.move(former, to: copy.id, in: transaction)
    try transaction.set(copy.id.key, for: FormerKeys.key(former))
    // A later edit may give the record its former key again.
    try transaction.remove(FormerKeys.key(copy.id))
    tally.noteChanged(former)
    tally.noteChanged(copy.id)
    return moved
  }

  /// Puts the entry under the new key, unless the record is there already.
  private func settle(_ entry: OutboxEntry, _ tally: inout Tally) throws(SyncError) -> OutboxEntry? {
    let isNewer = entry.sent != entry.edit
    let other = try transaction.outbox(for: [copy.id]).first
    let shown = try transaction.records(withIDs: [copy.id]).first ?? nil
    if other == nil, shown == nil {
      try write(entry, of: entity)
      return entry
    }
    if let other, other.isLoser(to: former) {
      var joined = entry
      (joined.base, joined.sent, joined.attempts) = (other.base, nil, 0)
      joined.leaves = joined.departures(of: entity)
      try write(joined, of: entity)
      return nil
    }
    // A pull was faster than the answer. Only an edit that was made since is new there.
    guard isNewer else { return nil }
    if let other {
      // That edit arrives now at the earliest. What its base tells is when that one arrived.
      let theirs: RemoteState
      switch other.row(of: entity) {
      case .live(var record):
        record.version.modifiedAt = context.now
        theirs = .copy(record)
      case .deleted(var tombstone):
        tombstone.version.modifiedAt = context.now
        tombstone.stamp = other.lastWrite
        theirs = .deletion(tombstone)
      }
      let settlement = settler.meeting(theirs, entry, isAnswer: true)
      if let conflict = settlement.conflict {
        try transaction.log([conflict])
        tally.note(conflict)
      }
      guard let mine = settlement.entry else { return nil }
      var joined = other
      joined.edit = mine.edit
      joined.leaves = joined.departures(of: entity)
      try write(joined, of: entity)
    } else if let shown {
      let settlement = settler.meeting(.copy(shown), entry, isAnswer: true)
      try transaction.apply { $0.add(settlement, of: entry) }
      tally.note(settlement, of: entry)
    }
    return nil
  }

  private func write(_ entry: OutboxEntry, of entity: Entity) throws(SyncError) {
    switch entry.row(of: entity) {
    case .live(let record): try transaction.put([record])
    case .deleted(let tombstone): try transaction.delete([tombstone])
    }
    try transaction.queue([entry])
  }

  /// The entry with the new key, also in the member that holds the key.
  private func renamed(_ entry: OutboxEntry, _ keyMembers: [FieldName]) -> OutboxEntry {
    func renamed(_ edit: Edit) -> Edit {
      guard case .upsert(let payload, let schemaVersion) = edit.content, var members = try? FieldMap(payload)
      else { return edit }
      for name in keyMembers where members[name].map({ JSONString.quoted(former.key)[...] == $0 }) ?? false {
        members[name] = theirs[name]
      }
      return Edit(.upsert(members.payload, schemaVersion: schemaVersion), stamp: edit.stamp)
    }
    return OutboxEntry(
      id: copy.id, edit: renamed(entry.edit), base: .none, sent: entry.sent.map(renamed), state: entry.state,
      attempts: entry.attempts, author: entry.author, leaves: entry.leaves)
  }

  private var theirs: FieldMap { (try? FieldMap(copy.payload)) ?? FieldMap() }

  /// The members of the remote's copy that hold its key, and did not hold another value before.
  private func keyMembers(since sent: Payload?) -> [FieldName] {
    let (text, digits) = (JSONString.quoted(copy.id.key)[...], Array(copy.id.key.utf8)[...])
    let (theirs, own) = (theirs, JSONString.quoted(former.key)[...])
    let before = sent.flatMap { try? FieldMap($0) } ?? FieldMap()
    return theirs.fields.filter { name in
      (theirs[name] == text || theirs[name] == digits) && before[name].map { $0 == own } ?? true
    }
  }

  // MARK: References

  /// Points every reference to the record to its new key, in the form that the remote gives it.
  ///
  /// An edit that was not sent is changed as it waits. One that may have arrived with the former key
  /// is followed by another.
  private func repoint(form: ArraySlice<UInt8>?, _ tally: inout Tally) throws(SyncError) {
    let referrers = Referrers(to: [former: copy.id], of: entity.type, in: schema)
    guard !referrers.winners.isEmpty else { return }
    let found = try referrers.find(limit: .max, in: transaction).found
    if found.isEmpty { return }
    let ids = found.keys.sorted()
    let pending = try transaction.edits(of: ids)
    var drafts: [RecordID: RecordDraft] = [:]
    for id in ids {
      guard let found = found[id], let target = schema[id.type] else { continue }
      var draft = try RecordDraft(found.record)
      _ = referrers.point(&draft, found.fields, form: form)
      tally.noteChanged(id)
      guard var entry = pending[id], entry.sent != entry.edit else {
        drafts[id] = draft
        continue
      }
      entry.edit.content = draft.change.content
      entry.leaves = entry.departures(of: target)
      try write(entry, of: target)
    }
    if drafts.isEmpty { return }
    var writer = try EditWriter(
      schema, at: context.now, maximumClockSkew: context.edits.maximumClockSkew, in: transaction)
    let pass = try transaction.checkpoint(for: entity.type)?.lastPass ?? 0
    try writer.edit(drafts, pending: pending, pass: pass)
    try writer.finish()
  }
}

extension OutboxEntry {
  /// Whether the entry deletes a duplicate of another record.
  fileprivate func isLoser(to winner: RecordID) -> Bool {
    guard case .rebuild(let rebuilt) = author, edit.content == .deletion else { return false }
    return rebuilt.winner == winner
  }
}
