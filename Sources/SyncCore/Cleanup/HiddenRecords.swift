import SyncModels
import SyncPorts

/// Records that are hidden: set aside as the remote has them, while the store has them as deleted.
struct HiddenRecords {
  let graph: EntityGraph
  let transaction: any StoreTransaction

  /// Hides live records.
  func hide(_ records: [Record], reason: String, fence: Int64, at now: Timestamp) throws(SyncError) {
    guard let type = records.first?.id.type else { return }
    // What was there when it was hidden counts as listed until a later listing lacks it.
    let pass = try transaction.checkpoint(for: type)?.lastPass ?? 0
    try transaction.setAside(
      records.map { record in
        SetAside(
          key: .record(record.id), kind: .hidden, change: .upsert(record), reason: reason, pass: pass,
          fence: fence, since: now)
      })
    try transaction.delete(
      records.map { Tombstone(id: $0.id, version: $0.version, entityTag: $0.entityTag) })
  }

  /// Shows those of some records again that are hidden, with the hidden ones that they refer to.
  ///
  /// - Returns: The records that are live now.
  func reveal(_ ids: some Collection<RecordID>) throws(SyncError) -> [Record] {
    var found: [RecordID: (entry: SetAside, record: Record)] = [:]
    var types: [RecordType: Bool] = [:]
    for type in Set(ids.map(\.type)) { types[type] = try isAnyHidden(type) }
    var wanted = Set(ids.filter { types[$0.type] == true })
    while !wanted.isEmpty {
      var targets: Set<RecordID> = []
      for entry in try transaction.setAside(for: wanted.map { .record($0) }) where entry.kind == .hidden {
        guard case .upsert(var record) = entry.change, let entity = graph[record.id.type] else { continue }
        record.fields = (try? entity.fields(of: record.payload)) ?? []
        found[record.id] = (entry, record)
        targets.formUnion(entity.requiredReferences(of: record))
      }
      targets.subtract(found.keys)
      wanted = Set(try transaction.absent(among: Array(targets)))
    }
    try dropThoseWithoutTargets(&found)
    guard !found.isEmpty else { return [] }
    let records = found.values.map(\.record).sorted { $0.id < $1.id }
    try transaction.put(records)
    try transaction.removeSetAside(found.values.map(\.entry.key))
    var listed: [RecordID] = []
    for (entry, record) in found.values {
      let pass = try transaction.checkpoint(for: record.id.type)?.markPass
      if pass.map({ entry.pass >= $0 }) ?? false { listed.append(record.id) }
    }
    if !listed.isEmpty { try transaction.mark(listed) }
    return records
  }

  /// What would dangle stays hidden.
  private func dropThoseWithoutTargets(
    _ found: inout [RecordID: (entry: SetAside, record: Record)]
  ) throws(SyncError) {
    let targets = found.values.flatMap { graph[$0.record.id.type]?.requiredReferences(of: $0.record) ?? [] }
    guard !targets.isEmpty else { return }
    let absent = Set(try transaction.absent(among: Array(Set(targets))))
    while true {
      let dangling = found.values.filter { (_, record) in
        (graph[record.id.type]?.requiredReferences(of: record) ?? [])
          .contains { absent.contains($0) && found[$0] == nil }
      }
      if dangling.isEmpty { return }
      for (_, record) in dangling { found[record.id] = nil }
    }
  }

  private func isAnyHidden(_ type: RecordType) throws(SyncError) -> Bool {
    guard graph[type] != nil else { return false }
    return try transaction.setAsideCounts(type)[.hidden, default: 0] > 0
  }
}
