package import SyncModels
package import SyncPorts

/// The parts of a type's declaration that decide which records may be shown.
struct DeclaredShape: Hashable, Codable {
  /// The ordered references, without duplicates, sorted.
  var references: [Target]
  var naturalKey: NaturalKey?

  struct Target: Hashable, Codable {
    var field: FieldName
    var type: RecordType
  }

  init(_ entity: Entity) {
    let targets = Set(
      entity.references.filter(\.isOrdered).map { Target(field: $0.field, type: $0.target) })
    references = targets.sorted { ($0.type, $0.field.rawValue) < ($1.type, $1.field.rawValue) }
    naturalKey = entity.naturalKey
  }

  /// Whether records that satisfy another declaration's references satisfy these too.
  func needsNoMore(than satisfied: [Target]) -> Bool { Set(references).isSubset(of: satisfied) }
}

/// The declarations that were registered last, and what the stored records still have to follow.
///
/// The version of the app that registers last decides. Engines of other versions read and edit;
/// their syncs are refused.
struct StoredDeclarations: Hashable, Codable {
  /// The state of each type, sorted by name.
  private(set) var types: [Known] = []
  /// Records that the withholding left because of their edits, to be checked again.
  private(set) var left: [RecordID] = []

  /// What is known of one type.
  struct Known: Hashable, Codable {
    let type: RecordType
    /// The type's last declaration.
    var shape: DeclaredShape
    /// Whether the type is declared now.
    var isDeclared = true
    /// The references that no live record leaves dangling.
    var satisfied: [DeclaredShape.Target]
    /// The walk over parked copies that may have lost their reason to wait.
    var release: Walk?
    /// The walk over live records, once begun, that withholds the dangling ones.
    var withholding: Walk?

    /// Whether live records may refer to absent ones.
    var withholds: Bool { isDeclared && !shape.needsNoMore(than: satisfied) }
  }

  /// The progress of a walk.
  struct Walk: Hashable, Codable {
    /// The key after which the walk continues.
    var after: String?
  }

  func known(_ type: RecordType) -> Known? { types.first { $0.type == type } }

  /// Replaces the declarations, and makes due what the stored records need because of it.
  ///
  /// - Returns: The types whose knowledge of duplicates is based on another natural key.
  mutating func declare(_ entities: [Entity]) -> [RecordType] {
    var void: [RecordType] = []
    let declared = Set(entities.map(\.type))
    for place in types.indices where !declared.contains(types[place].type) {
      // What the store keeps of the type meanwhile is checked once it is declared again.
      types[place].isDeclared = false
      (types[place].satisfied, types[place].release, types[place].withholding) = ([], Walk(), nil)
    }
    for entity in entities {
      let shape = DeclaredShape(entity)
      guard let place = types.firstIndex(where: { $0.type == entity.type }) else {
        types.append(Known(type: entity.type, shape: shape, satisfied: shape.references))
        continue
      }
      let old = types[place]
      if old.isDeclared, old.shape == shape { continue }
      if old.shape.naturalKey != shape.naturalKey { void.append(entity.type) }
      types[place].isDeclared = true
      types[place].shape = shape
      types[place].withholding = nil
      types[place].satisfied.removeAll { !shape.references.contains($0) }
      let needsLess = !old.shape.needsNoMore(than: shape.references)
      if needsLess || old.release != nil { types[place].release = Walk() }
    }
    types.sort { $0.type < $1.type }
    return void
  }

  /// Makes due what edits by an engine with other declarations may have left dangling.
  mutating func weaken(by other: SyncSchema) {
    for place in types.indices {
      let references = other[types[place].type].map { DeclaredShape($0).references } ?? []
      guard types[place].isDeclared, !types[place].shape.needsNoMore(than: references) else { continue }
      types[place].satisfied.removeAll { !references.contains($0) }
      types[place].withholding = nil
    }
  }

  /// Continues or ends the release of a type's parked copies.
  mutating func setRelease(_ walk: Walk?, of type: RecordType) {
    update(type) { $0.release = walk }
  }

  /// Begins or continues the withholding of a type's records.
  mutating func setWithholding(_ walk: Walk, of type: RecordType) {
    update(type) { $0.withholding = walk }
  }

  /// Ends the withholding of a type's records.
  ///
  /// It is due again if another engine's edits have interrupted its walk.
  mutating func finishWithholding(of type: RecordType) {
    update(type) { known in
      guard known.withholding != nil else { return }
      (known.withholding, known.satisfied) = (nil, known.shape.references)
    }
  }

  /// Adds records to be checked again after the next pulls.
  mutating func leave(_ ids: [RecordID]) { left = Set(left).union(ids).sorted() }

  /// Removes records that have been checked.
  mutating func forget(_ ids: Set<RecordID>) { left.removeAll(where: ids.contains) }

  private mutating func update(_ type: RecordType, _ change: (inout Known) -> Void) {
    guard let place = types.firstIndex(where: { $0.type == type }) else { return }
    change(&types[place])
  }
}

extension StoredDeclarations {
  private static let key = ValueKey<StoredDeclarations>(.declarations)

  static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> StoredDeclarations {
    try snapshot.value(of: key) ?? StoredDeclarations()
  }

  /// Changes the stored value.
  static func update<R>(
    in transaction: any StoreTransaction, _ change: (inout StoredDeclarations) -> R
  ) throws(SyncError) -> R {
    let before = try load(from: transaction)
    var after = before
    let result = change(&after)
    if after != before { try transaction.set(after, for: key) }
    return result
  }

  /// Registers a schema with a store, and makes its declarations those that decide.
  static func register(_ schema: SyncSchema, with store: any LocalStore) async throws(SyncError) {
    let (isKnown, former) = try await store.read { (snapshot) throws(SyncError) in
      let stored = try load(from: snapshot)
      var next = stored
      _ = next.declare(schema.entities)
      // A salvaged store has declarations, and no note of them.
      return (next == stored, stored.types.isEmpty ? try snapshot.registeredEntities() : [])
    }
    try await store.register(schema)
    if isKnown { return }
    try await store.write(.app) { (transaction) throws(SyncError) in
      let void = try update(in: transaction) { stored in
        let isNew = stored.types.isEmpty
        return (isNew ? stored.declare(former) : []) + stored.declare(schema.entities)
      }
      // A rebuild by another natural key does not count: the app's next one does it anew.
      for type in void {
        try RebuildProgress.forget(for: type, in: transaction)
      }
    }
  }
}

extension StoreSnapshot {
  /// Whether a schema has the declarations that were registered last.
  package func isDecided(by schema: SyncSchema) throws(SyncError) -> Bool {
    var others: [RecordType] = []
    for entity in try registeredEntities() {
      guard let own = schema[entity.type] else {
        others.append(entity.type)
        continue
      }
      if own.references == entity.references, own.naturalKey == entity.naturalKey { continue }
      if DeclaredShape(own) != DeclaredShape(entity) { return false }
    }
    if others.isEmpty { return true }
    // A store keeps the types that are declared no more.
    let stored = try StoredDeclarations.load(from: self)
    return !others.contains { stored.known($0)?.isDeclared ?? false }
  }

  /// Demands that a schema has the declarations that were registered last.
  ///
  /// - Throws: `declarationsReplaced`.
  func demandDecision(by schema: SyncSchema) throws(SyncError) {
    if try isDecided(by: schema) { return }
    throw SyncError(
      .declarationsReplaced, during: "following the declarations of the store",
      """
      Another version of the app has registered other declarations with the store since this engine was made. \
      Reads and edits go on. To sync, restart the process or make a new engine; the version that registers \
      last decides.
      """)
  }
}

extension StoreTransaction {
  /// Makes the next sync check what edits by a schema may have left dangling.
  ///
  /// Nothing is written if the schema has the declarations that were registered last.
  func weakenDeclarations(by schema: SyncSchema) throws(SyncError) {
    if try isDecided(by: schema) { return }
    try StoredDeclarations.update(in: self) { $0.weaken(by: schema) }
  }
}
