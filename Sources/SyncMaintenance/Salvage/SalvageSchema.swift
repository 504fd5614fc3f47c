import SyncCore
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
      guard (try? SyncSchema([entity.with([])])) != nil,
        Self.spelling(of: entity.type, in: entities) == nil
      else {
        losses.append(SalvageLoss(.declarations, type: entity.type, "the declaration is not valid"))
        continue
      }
      entities.append(entity)
    }
    let targets = Set(entities.flatMap { $0.references.map(\.target) })
    for target in targets.sorted() where Self.spelling(of: target, in: entities) == nil {
      if (try? SyncSchema([Entity(target)])) != nil { entities.append(Entity(target)) }
    }
    let types = Set(entities.map(\.type))
    for (place, entity) in entities.enumerated() {
      let references = entity.references.filter { types.contains($0.target) }
      guard references.count < entity.references.count else { continue }
      losses.append(SalvageLoss(.declarations, type: entity.type, "a reference to no valid type is left out"))
      entities[place] = entity.with(references)
    }
    if let whole = try? SyncSchema(entities) {
      schema = whole
    } else if let unordered = try? SyncSchema(entities.map(\.unordered)) {
      schema = unordered
    } else {
      schema = try SyncSchema(entities.map { $0.with([]) })
    }
  }

  /// Returns the declared type with such a name, apart from its case.
  ///
  /// No two types differ in case alone, so a name that does is a damaged one.
  func declared(_ type: RecordType) -> RecordType? { Self.spelling(of: type, in: schema.entities) }

  private static func spelling(of type: RecordType, in entities: [Entity]) -> RecordType? {
    if entities.contains(where: { $0.type == type }) { return type }
    let name = type.rawValue.lowercased()
    return entities.first { $0.type.rawValue.lowercased() == name }?.type
  }

  /// Adds a bare declaration for a type; false if the type has no valid name.
  mutating func add(_ type: RecordType) -> Bool {
    guard let wider = try? SyncSchema(schema.entities + [Entity(type)]) else { return false }
    schema = wider
    return true
  }
}

extension Entity {
  /// The declaration with unordered references.
  fileprivate var unordered: Entity {
    with(references.map { .to($0.target, by: $0.field, ordered: false) })
  }

  /// Returns the declaration with other references.
  fileprivate func with(_ references: [Reference]) -> Entity {
    Entity(
      type, schemaVersion: schemaVersion, schemaVersionField: schemaVersionField,
      references: references, naturalKey: naturalKey, indexes: indexes, stamping: stamping,
      immutable: immutable, visibility: visibility, access: access)
  }
}
