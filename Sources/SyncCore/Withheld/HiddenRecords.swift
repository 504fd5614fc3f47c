import SyncModels
import SyncPorts

/// Hidden records: withheld in their remote state, while the store has them as deleted.
struct HiddenRecords {
  let schema: SyncSchema
  let transaction: any StoreTransaction
  /// The type and the complete listing of the page that is being committed.
  ///
  /// The checkpoint does not yet contain its first page.
  var listing: (type: RecordType, pass: Int64)?

  /// Hides live records.
  func hide(_ records: [Record], reason: String, fence: Int64, at now: Timestamp) throws(SyncError) {
    guard let type = records.first?.id.type else { return }
    let checkpoint = try transaction.checkpoint(for: type)
    let tombstones = records.map { Tombstone(id: $0.id, version: $0.version, entityTag: $0.entityTag) }
    let states = try transaction.states(of: tombstones)
    try transaction.withhold(
      zip(records, states).map { record, state in
        let isMarked = state?.isMarked ?? false
        return WithheldChange(
          key: .record(record.id), kind: .hidden, change: .upsert(record), reason: reason,
          pass: checkpoint?.lastPass(ofRowMarked: isMarked) ?? 0, finder: .sync(fence: fence), since: now)
      })
    try transaction.delete(tombstones)
  }

  /// Returns the hidden ones of some records, with what is withheld of them.
  func hidden(among ids: some Collection<RecordID>) throws(SyncError) -> [RecordID: WithheldChange] {
    try transaction.withheld(of: ids).filter { $0.value.kind == .hidden }
  }

  /// Returns the copy of a hidden record; `nil` for a record that is not hidden.
  func copy(of id: RecordID) throws(SyncError) -> Record? {
    guard try isAnyHidden(id.type), case .upsert(let record)? = try hidden(among: [id])[id]?.change else {
      return nil
    }
    return record
  }

  /// Returns the first hidden record that refers to another by an ordered reference.
  func firstReferring(to id: RecordID) throws(SyncError) -> RecordID? {
    var isAny = false
    for referrer in schema.referrers(to: id.type) where !isAny { isAny = try isAnyHidden(referrer.type) }
    var portions = transaction.portions(withheldReferringTo: [id], [.hidden])
    while isAny, let entries = try portions.next() {
      for case .upsert(let record) in entries.map(\.change) {
        // References that are no longer declared or no longer ordered do not count.
        guard let entity = schema[record.id.type] else { continue }
        if entity.requiredReferences(of: record.withFields(of: entity)).contains(id) { return record.id }
      }
    }
    return nil
  }

  /// Shows the hidden ones of some records, and the hidden records they refer to.
  ///
  /// A hidden record that refers to an absent record is parked instead, and appears with it.
  ///
  /// - Returns: The records that are live now.
  func reveal(_ ids: some Collection<RecordID>) throws(SyncError) -> [Record] {
    var found: [RecordID: (entry: WithheldChange, record: Record)] = [:]
    var types: [RecordType: Bool] = [:]
    for type in Set(ids.map(\.type)) { types[type] = try isAnyHidden(type) }
    var wanted = Set(ids.filter { types[$0.type] == true })
    var asked: Set<RecordID> = []
    while !wanted.isEmpty {
      asked.formUnion(wanted)
      var targets: Set<RecordID> = []
      for entry in try hidden(among: wanted).values {
        guard case .upsert(let copy) = entry.change, let entity = schema[copy.id.type] else { continue }
        let record = copy.withFields(of: entity)
        found[record.id] = (entry, record)
        targets.formUnion(entity.requiredReferences(of: record))
      }
      targets.subtract(asked)
      wanted = Set(try transaction.absent(among: Array(targets)))
    }
    try parkThoseWithoutTargets(&found)
    guard !found.isEmpty else { return [] }
    let records = found.values.map(\.record).sorted { $0.id < $1.id }
    try transaction.put(records)
    try transaction.release(found.values.map(\.entry.key))
    var listed: [RecordID] = []
    for (entry, record) in found.values {
      var pass = try transaction.checkpoint(for: record.id.type)?.markPass
      if let listing, listing.type == record.id.type { pass = listing.pass }
      if pass.map({ entry.pass >= $0 }) ?? false { listed.append(record.id) }
    }
    if !listed.isEmpty { try transaction.mark(listed) }
    return records
  }

  /// Removes records whose references would dangle, and parks them.
  private func parkThoseWithoutTargets(
    _ found: inout [RecordID: (entry: WithheldChange, record: Record)]
  ) throws(SyncError) {
    let targets = found.values.flatMap { schema[$0.record.id.type]?.requiredReferences(of: $0.record) ?? [] }
    guard !targets.isEmpty else { return }
    let absent = Set(try transaction.absent(among: Array(Set(targets))))
    var parked: [WithheldChange] = []
    while true {
      let missing = found.mapValues { _, record in
        (schema[record.id.type]?.requiredReferences(of: record) ?? [])
          .filter { absent.contains($0) && found[$0] == nil }
      }.filter { !$0.value.isEmpty }
      if missing.isEmpty { break }
      for (id, targets) in missing.sorted(by: { $0.key < $1.key }) {
        if let (entry, _) = found.removeValue(forKey: id) { parked.append(entry.parked(waitingFor: targets)) }
      }
    }
    if !parked.isEmpty { try transaction.withhold(parked) }
  }

  private func isAnyHidden(_ type: RecordType) throws(SyncError) -> Bool {
    guard schema[type] != nil else { return false }
    return try transaction.withheldCounts(type)[.hidden, default: 0] > 0
  }
}
