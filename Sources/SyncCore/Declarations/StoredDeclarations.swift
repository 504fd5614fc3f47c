import SyncModels
import SyncPorts

/// The declarations that the stored records follow, and changes under way.
struct StoredDeclarations: Hashable, Codable {
  /// The state of each type, sorted by name.
  private(set) var types: [Known] = []
  /// Records that were left because of their edits, to be checked again.
  var left: [RecordID] = []

  /// The state of one type's declarations.
  struct Known: Hashable, Codable {
    let type: RecordType
    /// The declaration that was last carried out; `nil` if the type was not declared then.
    var carriedOut: DeclaredShape?
    /// The declarations carried out before that, oldest first.
    var former: [DeclaredShape] = []
    /// The change that is being carried out.
    var underWay: Progress?
    /// When the release of parked copies was last postponed.
    ///
    /// It is postponed while versions of the app take turns.
    var releasePutOffAt: Timestamp?
  }

  /// The progress of a change.
  struct Progress: Hashable, Codable {
    /// The declaration that the change leads to.
    var shape: DeclaredShape
    /// Whether the release of parked copies is done.
    var isReleased = false
    /// The key after which the walk continues.
    ///
    /// It walks through parked copies, and after their release through records.
    var after: String?
  }

  private static let formerAtMost = 8
  /// How long a version's stricter declaration holds after its last turn.
  static let turnsLast = Duration.seconds(86_400)

  /// Whether the store is in line with a schema.
  func isInLine(with schema: SyncSchema, at now: Timestamp) -> Bool {
    types.filter { $0.carriedOut != nil }.count == schema.entities.count
      && schema.entities.allSatisfy { entity in
        change(to: entity, at: now) == nil && !known(entity.type).isInterrupted(by: DeclaredShape(entity))
      }
  }

  /// Returns the effect of a type's declaration, if it is not carried out yet.
  func change(to entity: Entity, at now: Timestamp) -> DeclarationChange? {
    let (known, shape) = (known(entity.type), DeclaredShape(entity))
    if known.carriedOut == shape { return known.isReleaseDue(at: now) ? .overdueRelease : nil }
    return DeclarationChange(from: known.carriedOut, to: shape, former: known.former)
  }

  /// Returns the progress of a type's change.
  ///
  /// Progress towards another declaration does not count.
  func progress(of entity: Entity) -> Progress {
    let shape = DeclaredShape(entity)
    if let progress = known(entity.type).underWay, progress.shape == shape { return progress }
    return Progress(shape: shape)
  }

  /// Notes the progress of a type's change.
  mutating func note(_ progress: Progress, of entity: Entity) {
    update(entity.type) { $0.underWay = progress }
  }

  /// Notes that a type follows its declaration.
  mutating func finish(_ entity: Entity) {
    update(entity.type) { known in
      known.retire()
      known.carriedOut = DeclaredShape(entity)
    }
  }

  /// Notes that the parked copies of a type were merged again.
  mutating func noteReleased(_ entity: Entity) {
    update(entity.type) { $0.releasePutOffAt = nil }
  }

  /// Notes the declared types, and finishes those without affected records.
  mutating func begin(_ schema: SyncSchema, at now: Timestamp) {
    for type in types.map(\.type) where schema[type] == nil { update(type) { $0.retire() } }
    for entity in schema.entities {
      let shape = DeclaredShape(entity)
      if known(entity.type).isInterrupted(by: shape) { update(entity.type) { $0.interrupt(at: now) } }
      guard let change = change(to: entity, at: now) else { continue }
      // Each turn of another version restarts a postponement.
      let isTurn = known(entity.type).carriedOut != shape && known(entity.type).releasePutOffAt != nil
      if change.postponesRelease || isTurn { update(entity.type) { $0.releasePutOffAt = now } }
      if change.isEmpty {
        finish(entity)
      } else {
        // Noted at the start, because releases of one type also show copies of others that waited
        // for them.
        note(progress(of: entity), of: entity)
      }
    }
  }

  private func known(_ type: RecordType) -> Known {
    types.first { $0.type == type } ?? Known(type: type)
  }

  private mutating func update(_ type: RecordType, _ change: (inout Known) -> Void) {
    var known = known(type)
    change(&known)
    types = (types.filter { $0.type != type } + [known]).sorted { $0.type < $1.type }
  }

  fileprivate static func limited(_ former: [DeclaredShape]) -> [DeclaredShape] {
    former.suffix(formerAtMost)
  }
}

extension StoredDeclarations.Known {
  /// Whether a postponed release is due.
  ///
  /// The other version is then taken for gone. A clock that was ahead and is corrected makes the
  /// release due at once.
  fileprivate func isReleaseDue(at now: Timestamp) -> Bool {
    guard let instant = releasePutOffAt else { return false }
    return now < instant || instant + StoredDeclarations.turnsLast <= now
  }

  /// Whether a version with another declaration has begun a change without finishing it.
  fileprivate func isInterrupted(by shape: DeclaredShape) -> Bool {
    underWay.map { $0.shape != shape } ?? false
  }

  /// Accepts the part of a change that another version did not finish.
  ///
  /// Records that it has shown satisfy only its own references. Copies that it has parked wait for
  /// them.
  fileprivate mutating func interrupt(at now: Timestamp) {
    let (begun, old) = (underWay?.shape, carriedOut)
    retire()
    guard let begun, var shape = old else { return }
    former = StoredDeclarations.limited(former.filter { $0 != begun } + [begun])
    shape.references.removeAll { !begun.references.contains($0) }
    shape.naturalKey = begun.naturalKey
    carriedOut = shape
    releasePutOffAt = now
  }

  /// Moves the carried-out declaration to the former ones.
  fileprivate mutating func retire() {
    underWay = nil
    guard let shape = carriedOut else { return }
    carriedOut = nil
    former = StoredDeclarations.limited(former.filter { $0 != shape } + [shape])
  }
}

extension StoredDeclarations {
  private static let key = ValueKey<StoredDeclarations>(.declarations)

  static func load(from snapshot: any StoreSnapshot) throws(SyncError) -> StoredDeclarations? {
    try snapshot.value(of: key)
  }

  /// Changes the stored value.
  static func update(
    in transaction: any StoreTransaction, _ change: (inout StoredDeclarations) -> Void
  ) throws(SyncError) {
    let before = try load(from: transaction)
    var after = before ?? StoredDeclarations()
    change(&after)
    if after != before { try transaction.set(after, for: key) }
  }

  /// Notes live records to be checked after the pulls.
  static func noteLeft(_ ids: [RecordID], in transaction: any StoreTransaction) throws(SyncError) {
    try update(in: transaction) { $0.left = Set($0.left).union(ids).sorted() }
  }

  /// Notes that records are being shown by a schema, before its first sync.
  ///
  /// Another version of the app then withholds those that dangle by its own declarations.
  static func noteTurn(
    of schema: SyncSchema, at now: Timestamp, in transaction: any StoreTransaction
  ) throws(SyncError) {
    // Without a note, no version with other declarations has opened the store.
    guard let stored = try load(from: transaction), !stored.isInLine(with: schema, at: now) else { return }
    try update(in: transaction) { $0.begin(schema, at: now) }
  }

  /// Notes the declarations that a store follows, before a different schema is registered.
  ///
  /// It applies to a store that has no such note yet.
  static func noteRegistered(in store: any LocalStore, before schema: SyncSchema) async throws(SyncError) {
    let registered = try await store.read { (snapshot) throws(SyncError) -> [Entity] in
      try load(from: snapshot) == nil ? snapshot.registeredEntities() : []
    }
    let isAlike = registered.allSatisfy { entity in
      schema[entity.type].map { DeclaredShape($0) == DeclaredShape(entity) } ?? false
    }
    if isAlike { return }
    try await store.write(.app) { (transaction) throws(SyncError) in
      guard try load(from: transaction) == nil else { return }
      try update(in: transaction) { stored in
        for entity in registered { stored.finish(entity) }
      }
    }
  }
}
