import SyncModels
import SyncPorts

/// The whole content of a store, as one value.
///
/// A copy is a snapshot. Dropping a changed copy is a rollback.
struct StoreState: Sendable {
  var tables: [RecordType: Table] = [:]
  var withheld = WithheldTable()
  var outbox = Outbox()
  var conflicts = ConflictLog()
  var values = OrderedMap<UTF8Key, [UInt8]>()
  var changes = ChangeLog()

  mutating func register(_ schema: SyncSchema) {
    for entity in schema.entities {
      if tables[entity.type]?.entity.references != entity.references { withheld.refile(entity) }
      tables[entity.type, default: Table(entity)].redeclare(as: entity)
    }
  }

  /// The table of a type, which must be registered.
  func table(_ type: RecordType, during operation: @autoclosure () -> String) throws(SyncError) -> Table {
    guard let table = tables[type] else { throw Self.unregistered(type, during: operation()) }
    return table
  }

  /// Changes the table of a type in place. The type must be registered.
  mutating func change(
    _ type: RecordType, during operation: @autoclosure () -> String, _ body: (inout Table) -> Void
  ) throws(SyncError) {
    guard tables[type] != nil else { throw Self.unregistered(type, during: operation()) }
    body(&tables[type, default: Table(Entity(type))])
  }

  private static func unregistered(_ type: RecordType, during operation: String) -> SyncError {
    SyncError(.invalidConfiguration, during: operation, "\(type) is not registered in the store.")
  }
}

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
