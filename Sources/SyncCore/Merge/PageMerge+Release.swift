import SyncModels
import SyncPorts

extension PageMerge {
  /// Merges changes, then what was parked for records that are live now, what was parked for those, and so on.
  mutating func mergeAndRelease(
    _ changes: [Incoming], in transaction: any StoreTransaction
  ) throws(SyncError) {
    let appeared = try merge(changes, in: transaction)
    try releaseParked(waitingFor: appeared, in: transaction)
  }

  /// Merges entries that may no longer have to wait, and what was parked for them.
  mutating func release(_ entries: [WithheldChange], in transaction: any StoreTransaction) throws(SyncError) {
    let appeared = try merge(entries, in: transaction)
    try releaseParked(waitingFor: appeared, in: transaction)
  }

  /// Merges what was parked for some records or has closed a circle, and what was parked for what appears by that.
  mutating func releaseParked(
    waitingFor appeared: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) {
    #if MUTANTS
      if Mutant.parkedForEver.isActive { return }
    #endif
    try releaseOneByOne(waitingFor: appeared, in: transaction)
    while !parked.isEmpty {
      try releaseOneByOne(waitingFor: showCircles(in: transaction), in: transaction)
    }
  }

  /// Merges what was parked for some records, and for what appears by that.
  ///
  /// What still lacks another record is parked again, for that one alone, so each portion makes the rest smaller.
  private mutating func releaseOneByOne(
    waitingFor appeared: [RecordID], in transaction: any StoreTransaction
  ) throws(SyncError) {
    guard !appeared.isEmpty, try isAnythingParked(in: transaction) else { return }
    var pending = appeared[...]
    var before: [WithheldChange.Key] = []
    while !pending.isEmpty {
      let portion = Array(pending.prefix(MergeContext.portion))
      let entries = try transaction.parked(waitingFor: portion, limit: MergeContext.portion)
      // A type that is no longer declared keeps what waits for it, out of the way of others' copies.
      let strangers = entries.filter { context.schema[$0.key.type] == nil }
      if entries.count < MergeContext.portion {
        pending = pending.dropFirst(portion.count)
      } else {
        // A store that goes on finding what was taken out would be asked for ever.
        let keys = entries.map(\.key)
        guard keys != before else { throw .notReleased(keys[0].type) }
        before = keys
        if !strangers.isEmpty { try transaction.withhold(strangers.map(\.waitingForItsDeclaration)) }
      }
      let declared = entries.filter { context.schema[$0.key.type] != nil }
      if !declared.isEmpty { pending += try merge(declared, in: transaction) }
    }
  }

  /// Merges entries of any types, without what waits for them.
  mutating func merge(
    _ entries: [WithheldChange], in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    try transaction.release(entries.map(\.key))
    var appeared: [RecordID] = []
    for (type, entries) in Dictionary(grouping: entries, by: \.key.type).sorted(by: { $0.key < $1.key }) {
      guard let other = context.schema[type] else { continue }
      let markPass =
        type == entity.type ? context.markPass : try transaction.checkpoint(for: type)?.markPass
      var merge = PageMerge(other, context: context.forRelease(markPass: markPass), tally: tally)
      appeared += try merge.merge(entries.map { Incoming($0.lifted(by: other)) }, in: transaction)
      tally = merge.tally
      parked.formUnion(merge.parked)
    }
    return appeared
  }

  private func isAnythingParked(in transaction: any StoreTransaction) throws(SyncError) -> Bool {
    // A release may reach on to types that refer to this one by way of others.
    for other in context.schema.entities {
      if try transaction.withheldCounts(other.type)[.parked, default: 0] > 0 { return true }
    }
    return false
  }
}

extension WithheldChange {
  /// The entry as one that waits for no record, until its type is declared again.
  fileprivate var waitingForItsDeclaration: WithheldChange {
    var entry = self
    entry.waitsFor = []
    entry.reason = "the app does not declare \(key.type) any more"
    return entry
  }

  /// The entry with its fields as the type is declared today, which may not be as it was when the entry was filed.
  func lifted(by entity: Entity) -> WithheldChange {
    guard case .upsert(var record) = change, let fields = try? entity.fields(of: record.payload) else {
      return self
    }
    var entry = self
    record.fields = fields
    entry.change = .upsert(record)
    return entry
  }
}

extension SyncError {
  fileprivate static func notReleased(_ type: RecordType) -> SyncError {
    SyncError(
      .storeFailure, during: "releasing parked copies of \(type)",
      "The store still finds copies that this transaction took out. Nothing of the transaction was kept.")
  }
}
