package import SyncModels
package import SyncPorts

/// The types whose records follow their declarations.
///
/// After a change of a declaration, records may refer to missing ones until the next sync.
package struct RecordsInLine: Sendable {
  /// The types whose records are in line with their declarations.
  package private(set) var types: Set<RecordType> = []
  /// Records that stay although their references dangle, because of edits that are pushed first.
  package private(set) var staying: Set<RecordID> = []

  /// Creates an empty value: no type is in line.
  package init() {}

  /// Reads what the store has carried out of the declarations that were registered last.
  package init(of entities: [Entity], in snapshot: any StoreSnapshot) throws(SyncError) {
    let stored = try StoredDeclarations.load(from: snapshot)
    staying = Set(stored.left)
    types = Set(
      entities.filter { entity in
        guard let known = stored.known(entity.type), known.isDeclared else { return false }
        return known.shape == DeclaredShape(entity) && !known.withholds
      }.map(\.type))
  }
}
