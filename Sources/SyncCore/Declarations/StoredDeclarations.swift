package import SyncModels
package import SyncPorts

/// The parts of a type's declaration that decide which records may be shown.
struct DeclaredShape: Hashable, Codable {
  /// The ordered references, without duplicates, sorted.
  var references: [Target]
  var naturalKey: NaturalKey?
  /// Whether the type is ``Entity/Access/local``; `nil` if it is not.
  var isLocal: Bool?

  struct Target: Hashable, Codable {
    var field: FieldName
    var type: RecordType
  }

  init(_ entity: Entity) {
    let targets = Set(
      entity.references.filter(\.isOrdered).map { Target(field: $0.field, type: $0.target) })
    references = targets.sorted { ($0.type, $0.field.rawValue) < ($1.type, $1.field.rawValue) }
    naturalKey = entity.naturalKey
    isLocal = entity.access == .local ? true : nil
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

  /// Adds types that the store has and of which nothing is known, as types that are not declared.
  ///
  /// Their records are checked once the types are declared.
  mutating func adopt(_ registered: [Entity]) {
    for entity in registered where known(entity.type) == nil {
      types.append(
        Known(
          type: entity.type, shape: DeclaredShape(entity), isDeclared: false, satisfied: [], release: Walk()))
    }
    types.sort { $0.type < $1.type }
  }

  /// Replaces the declarations, and makes due what the stored records need because of it.
  ///
  /// - Returns: The types whose knowledge of duplicates is based on another natural key.
  mutating func declare(_ entities: [Entity]) -> [RecordType] {
    declare(Dictionary(uniqueKeysWithValues: entities.map { ($0.type, DeclaredShape($0)) }))
  }

  private mutating func declare(_ declared: [RecordType: DeclaredShape]) -> [RecordType] {
    var void: [RecordType] = []
    for place in types.indices where declared[types[place].type] == nil {
      // What the store keeps of the type meanwhile is checked once it is declared again.
      types[place].isDeclared = false
      (types[place].satisfied, types[place].release, types[place].withholding) = ([], Walk(), nil)
    }
    for (type, shape) in declared {
      guard let place = types.firstIndex(where: { $0.type == type }) else {
        types.append(Known(type: type, shape: shape, satisfied: shape.references))
        continue
      }
      let old = types[place]
      if old.isDeclared, old.shape == shape { continue }
      if old.shape.naturalKey != shape.naturalKey { void.append(type) }
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

  /// Replaces the declarations by those of an engine that another one overtook while it registered.
  ///
  /// The other one's go on deciding, but the engine may have worked by its own meanwhile.
  ///
  /// - Returns: The types whose knowledge of duplicates is based on another natural key.
  mutating func declareInPassing(_ entities: [Entity]) -> [RecordType] {
    let before = types.filter(\.isDeclared).map { ($0.type, $0.shape) }
    return declare(entities) + declare(Dictionary(uniqueKeysWithValues: before))
  }

  /// Makes due what edits by an engine with other declarations may have left dangling, or parked.
  mutating func weaken(by other: SyncSchema) {
    for place in types.indices where types[place].isDeclared {
      guard let shape = other[types[place].type].map(DeclaredShape.init) else {
        (types[place].satisfied, types[place].withholding) = ([], nil)
        continue
      }
      if !types[place].shape.needsNoMore(than: shape.references) {
        types[place].satisfied.removeAll { !shape.references.contains($0) }
        types[place].withholding = nil
      }
      // Edits that are discarded leave copies parked by the other declaration.
      if !shape.needsNoMore(than: types[place].shape.references) { types[place].release = Walk() }
    }
  }

  /// Continues or ends the release of a type's parked copies.
  ///
  /// A walk that had to begin anew meanwhile is left to the next sync.
  mutating func setRelease(from old: Walk, to new: Walk?, of type: RecordType) {
    update(type) { if $0.release == old { $0.release = new } }
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
  /// The types that the store keeps although they are declared no more.
  ///
  /// Each transaction asks for them, and few stores have any.
  fileprivate static let undeclared = ValueKey<[RecordType]>(.declarations, "/undeclared")

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
  ///
  /// Records that were made while their type was ``Entity/Access/local`` become insertions with it, or
  /// drafts if the type is ``Entity/Access/readOnly`` now. A listing would otherwise remove them.
  ///
  /// - Parameter schema: The types, with the traits of their remote.
  /// - Returns: A position of the store after its registration.
  @discardableResult
  static func register(
    _ schema: SyncSchema, with store: any LocalStore, at now: Timestamp,
    maximumClockSkew: Duration = EditOptions().maximumClockSkew
  ) async throws(SyncError) -> StorePosition {
    // A salvaged store has declarations, and no note of what its records follow. So has one in which
    // the registration of a new type was interrupted.
    let registered = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.registeredEntities()
    }
    try await store.register(schema)
    let (isKnown, position) = try await store.read { (snapshot) throws(SyncError) in
      let stored = try load(from: snapshot)
      var next = stored
      next.adopt(registered)
      _ = next.declare(schema.entities)
      return (next == stored, try snapshot.changes(after: nil).position)
    }
    if isKnown { return position }
    try await store.write(.app) { (transaction) throws(SyncError) in
      let isOvertaken = try !transaction.hasRegistered(schema)
      let before = try load(from: transaction)
      let (void, undeclared) = try update(in: transaction) { stored in
        stored.adopt(registered)
        let void =
          isOvertaken ? stored.declareInPassing(schema.entities) : stored.declare(schema.entities)
        return (void, stored.types.filter { !$0.isDeclared }.map(\.type))
      }
      if try undeclared != transaction.value(of: Self.undeclared) ?? [] {
        try transaction.set(undeclared, for: Self.undeclared)
      }
      // A rebuild by another natural key does not count: the app's next one does it anew.
      for type in void {
        try RebuildProgress.forget(for: type, in: transaction)
      }
      let formerlyLocal = schema.entities.filter {
        $0.access != .local && before.known($0.type)?.shape.isLocal ?? false
      }
      if isOvertaken || formerlyLocal.isEmpty { return }
      var writer = try EditWriter(schema, at: now, maximumClockSkew: maximumClockSkew, in: transaction)
      for entity in formerlyLocal { try writer.insertLocalRecords(of: entity) }
      try writer.finish()
    }
    return position
  }
}

extension StoreSnapshot {
  /// Whether a schema has the declarations that were registered last.
  package func isDecided(by schema: SyncSchema) throws(SyncError) -> Bool {
    guard try hasRegistered(schema) else { return false }
    // A store keeps the types that are declared no more.
    let undeclared = try undeclaredTypes()
    return try registeredEntities().allSatisfy { (schema[$0.type] == nil) == undeclared.contains($0.type) }
  }

  /// The types that the store keeps although the app declares them no more.
  func undeclaredTypes() throws(SyncError) -> [RecordType] {
    try value(of: StoredDeclarations.undeclared) ?? []
  }

  /// The types whose edits are not pushed: the app declares them no more, or as local.
  func unpushedTypes() throws(SyncError) -> Set<RecordType> {
    Set(
      try StoredDeclarations.load(from: self).types.filter { !$0.isDeclared || $0.shape.isLocal ?? false }
        .map(\.type))
  }

  /// Whether no type of a schema was registered with another declaration since.
  fileprivate func hasRegistered(_ schema: SyncSchema) throws(SyncError) -> Bool {
    try registeredEntities().allSatisfy { entity in
      guard let own = schema[entity.type] else { return true }
      return own.references == entity.references && own.naturalKey == entity.naturalKey
        || DeclaredShape(own) == DeclaredShape(entity)
    }
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

extension StoreTransaction {
  /// Demands that the store has put the fields of changed records where these declarations have them.
  ///
  /// A store keeps fields by their place in the declaration that was registered last through the same
  /// object. If another engine has registered others there, this engine's writes would put values
  /// into the wrong columns.
  ///
  /// - Throws: `declarationsReplaced`. The transaction must not be committed.
  func demandPlaces(of changed: ChangedRecords, by schema: SyncSchema) throws(SyncError) {
    guard case .records(let ids) = changed, !ids.isEmpty else { return }
    let registered = try registeredEntities()
    for entity in schema.entities {
      guard let other = registered.first(where: { $0.type == entity.type }),
        other.storedFields != entity.storedFields
      else { continue }
      // Objects that others use have their own declarations. What was written tells.
      for record in try records(withIDs: ids.filter { $0.type == entity.type }).compactMap(\.self) {
        guard record.fields != (try? entity.fields(of: record.payload)) else { continue }
        throw SyncError(
          .declarationsReplaced, during: "writing \(record.id)",
          """
          Another engine has registered other declarations of \(entity.type) on the same store object since this \
          engine was made. Nothing was written. Use that engine, or a store object for each.
          """)
      }
    }
  }
}
