import SyncModels
import SyncPorts

/// The declarations of a damaged store, repaired so that a new store accepts them.
struct SalvageSchema: Sendable {
  private(set) var schema: SyncSchema
  private(set) var losses: [SalvageLoss] = []

  /// Accepts every valid declaration; the app's next registration completes the others.
  ///
  /// A reference to a type without declaration keeps its meaning: the target gets a bare one.
  /// Declarations that refer to each other in a cycle lose the order of their references.
  init(_ found: [Entity]) throws(SyncError) {
    var entities: [Entity] = []
    for entity in found {
      guard (try? SyncSchema([entity.without(references: true)])) != nil,
        !entities.contains(where: { $0.type.rawValue.lowercased() == entity.type.rawValue.lowercased() })
      else {
        losses.append(SalvageLoss(.declarations, type: entity.type, "the declaration is not valid"))
        continue
      }
      entities.append(entity)
    }
    let targets = Set(entities.flatMap { $0.references.map(\.target) }).subtracting(entities.map(\.type))
    for target in targets.sorted() where (try? SyncSchema([Entity(target)])) != nil {
      entities.append(Entity(target))
    }
    if let whole = try? SyncSchema(entities) {
      schema = whole
    } else if let unordered = try? SyncSchema(entities.map { $0.without(references: false) }) {
      schema = unordered
    } else {
      schema = try SyncSchema(entities.map { $0.without(references: true) })
    }
  }

  /// Adds a bare declaration for a type; false if the type has no valid name.
  mutating func add(_ type: RecordType) -> Bool {
    guard let wider = try? SyncSchema(schema.entities + [Entity(type)]) else { return false }
    schema = wider
    return true
  }
}

extension Entity {
  /// Returns the declaration with its references removed, or unordered.
  fileprivate func without(references removed: Bool) -> Entity {
    Entity(
      type, schemaVersion: schemaVersion, schemaVersionField: schemaVersionField,
      references: removed ? [] : references.map { .to($0.target, by: $0.field, ordered: false) },
      naturalKey: naturalKey, indexes: indexes, stamping: stamping, immutable: immutable,
      visibility: visibility)
  }
}
