import SyncModels
import SyncPorts

extension StoreState {
  /// Writes one round of changes, in the order of the members of ``StoreChanges``.
  mutating func apply(_ changes: StoreChanges) throws(SyncError) {
    for type in changes.unmarkedTypes {
      try change(type, during: "clearing the marks of \(type)") { $0.clearMarks() }
    }
    for key in changes.released { withheld.remove(key) }
    for id in changes.dequeued { outbox[id] = nil }
    for copy in changes.put {
      try change(copy.id.type, during: "writing \(copy.id.type)") { $0.put(copy) }
      self.changes.insert(copy.id)
    }
    for copy in changes.versions {
      try change(copy.id.type, during: "writing \(copy.id.type)") { $0.updateVersion(copy) }
    }
    for tombstone in changes.deleted {
      let type = tombstone.id.type
      let isLive = tables[type]?[tombstone.id.key]?.record != nil
      try change(type, during: "deleting \(type)") { $0.delete(tombstone) }
      if isLive { self.changes.insert(tombstone.id) }
    }
    for entry in changes.withheld { withheld.file(entry, tables[entry.key.type]?.entity) }
    for id in changes.marked {
      try change(id.type, during: "marking \(id.type)") { $0.mark(id.key) }
    }
    for entry in changes.queued { outbox[entry.id] = entry }
    for conflict in changes.conflicts { try conflicts.add(conflict) }
    if let time = changes.forgottenConflicts { conflicts.remove(settledBefore: time) }
    for number in changes.removedConflicts { conflicts.remove(number) }
    for value in changes.values { values[UTF8Key(value.key)] = value.bytes }
    for id in changes.annotated { self.changes.insert(id) }
  }
}
