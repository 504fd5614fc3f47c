/// The declarations of a store object, with a number that changes with them.
package struct Declarations: Sendable {
  package private(set) var generation = 0
  package private(set) var entities: [RecordType: Entity] = [:]

  /// Creates no declarations.
  package init() {}

  /// Adds a schema's declarations, which replace those of the same types.
  package mutating func declare(_ schema: SyncSchema) {
    for entity in schema.entities { entities[entity.type] = entity }
    generation += 1
  }
}
