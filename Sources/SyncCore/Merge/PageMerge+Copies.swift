import SyncModels
import SyncPorts

extension PageMerge {
  /// Merges the copies of a round, and returns the records that are live now and were not before.
  mutating func mergeCopies(
    _ batch: inout Batch, in transaction: any StoreTransaction
  ) throws(SyncError) -> [RecordID] {
    guard !batch.copies.isEmpty else { return [] }
    let states = try transaction.states(of: batch.copies)
    let absent = try absentTargets(of: batch.copies, of: entity, in: transaction)
    var puts: [Int] = []
    puts.reserveCapacity(batch.copies.count)
    var touches: [Record] = []
    var appeared: [RecordID] = []
    for index in states.indices {
      let stored = states[index]
      let origin = batch.origin(ofCopy: index)
      let fate = rule.fate(ofCopy: batch.copies[index].version, over: stored)
      let isRival =
        try isRival(of: stored, origin: origin, in: transaction)
        && !batch.waited.contains(batch.copies[index].id)
      if fate == .unchanged || fate == .skippedOlder, !isRival {
        if fate == .unchanged, let stored, !rule.restates(batch.copies[index].version, stored) {
          touches.append(batch.copies[index])
        }
        note(fate, of: batch.copies[index].id, origin: origin)
        continue
      }
      if absent.isEmpty, !isRival {
        puts.append(index)
        let id = batch.copies[index].id
        if fate == .inserted { appeared.append(id) }
        note(fate, of: id, origin: origin)
        continue
      }
      let record = batch.copies[index]
      let missing = absent.isEmpty ? [] : entity.requiredReferences(of: record).filter(absent.contains)
      if let stored, isRival {
        // Of two that cannot both be shown, one that can be is.
        if fate == .updated, missing.isEmpty {
          try replaceRival(by: record, stored, into: &batch, in: transaction)
          puts.append(index)
        } else {
          quarantineRival(record, into: &batch)
        }
      } else if !missing.isEmpty {
        batch.withheld.append(context.parked(record, waitingFor: missing, origin: origin))
        note(.deferred, of: record.id, origin: origin)
      } else {
        puts.append(index)
        if fate == .inserted { appeared.append(record.id) }
        note(fate, of: record.id, origin: origin)
      }
    }
    if !puts.isEmpty {
      // Mostly it is all or little.
      let isAll = puts.count == batch.copies.count
      let copies = isAll ? batch.copies : puts.map { batch.copies[$0] }
      noteClocks(of: copies)
      let restorations = try restorations(of: copies, in: transaction)
      try transaction.put(copies)
      try restore(restorations, in: transaction)
    }
    if !touches.isEmpty { try transaction.updateVersions(touches) }
    return appeared
  }

  /// The records that some copies refer to and that are not live; hidden ones are shown again.
  mutating func absentTargets(
    of copies: [Record], of entity: Entity, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    let columns = context.referenceColumns(of: entity)
    guard !columns.isEmpty else { return [] }
    var targets = Set<RecordID>(minimumCapacity: copies.count * columns.count)
    for record in copies {
      for column in columns {
        guard column.index < record.fields.count, case .string(let key) = record.fields[column.index] else {
          continue
        }
        targets.insert(RecordID(type: column.target, key: key))
      }
    }
    #if MUTANTS
      if Mutant.childFirst.isActive { return [] }
    #endif
    targets.subtract(context.together)
    guard !targets.isEmpty else { return [] }
    let absent = Set(try transaction.absent(among: Array(targets)))
    guard !absent.isEmpty else { return [] }
    let listing = context.markPass.map { (type: self.entity.type, pass: $0) }
    let revealed = try HiddenRecords(schema: context.schema, transaction: transaction, listing: listing)
      .reveal(absent)
    for record in revealed {
      tally.noteRevealed(record.id)
      self.revealed.insert(record.id)
    }
    return absent.subtracting(revealed.map(\.id))
  }
}
