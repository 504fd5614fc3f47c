import SyncModels

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
