public import SyncModels
public import SyncPorts

/// The account whose records a store holds.
enum StoreAccount {
  private static let key = ValueKey<String>(.account)

  /// Gives a store to the account, unless it has one.
  ///
  /// - Throws: `otherAccount`.
  static func claim(_ account: String?, in store: any LocalStore) async throws(SyncError) {
    guard let account else { return }
    let isKnown = try await store.read { (snapshot) throws(SyncError) in
      try demand(account, in: snapshot)
      return try snapshot.value(of: key) != nil
    }
    if isKnown { return }
    try await store.write(.app) { (transaction) throws(SyncError) in
      try demand(account, in: transaction)
      try transaction.set(account, for: key)
    }
  }

  /// Demands that a store has this account or none.
  ///
  /// - Throws: `otherAccount`.
  static func demand(_ account: String?, in snapshot: any StoreSnapshot) throws(SyncError) {
    guard let account, let owner = try snapshot.value(of: key), !owner.isSameUTF8(as: account) else { return }
    throw SyncError(
      .otherAccount, during: "opening the store",
      """
      The store has the records of another account. Make it forget them by SyncEngine.forgetEverything(in:), \
      which returns the edits that were not pushed, or use another store.
      """)
  }
}

extension SyncEngine {
  /// Makes a store forget an account: its records, edits, conflicts and kept values.
  ///
  /// It is one transaction. Use it when the app's user logs out or another one logs in, before an
  /// engine for the new account is made. Engines of the former account no longer sync or edit if they
  /// were made with its name. The keys of deleted records stay in the store, without contents, and the
  /// next sync lists everything. Which legacy settings were migrated, and the app's own values, stay.
  ///
  /// - Returns: The edits that were not pushed, or whose answer was lost, by type and time.
  /// - Throws: `syncAlreadyInProgress` during a sync: stop it first. The store's codes. Nothing was
  ///   forgotten.
  /// - Complexity: O(*n* log *n*) for *n* records and entries, with the edits in memory.
  @discardableResult
  public static func forgetEverything(in store: any LocalStore) async throws(SyncError) -> [OutboxEntry] {
    try await Oblivion.run(in: store) { (oblivion) throws(SyncError) in try oblivion.run() }
  }
}

extension SyncEngine {
  /// Makes the store forget some types, and deletes nothing at the remote.
  ///
  /// Records, edits, conflicts, withheld changes and kept values of the types go, in one transaction.
  /// The next sync that includes a type lists it completely.
  ///
  /// - Returns: The edits that were not pushed, or whose answer was lost, by type and time.
  /// - Throws: `invalidConfiguration` for a type that is not declared, and for one to which another
  ///   type refers by an ordered reference that is not forgotten with it; `syncAlreadyInProgress`
  ///   during a sync; the store's codes. Nothing was forgotten.
  /// - Complexity: O(*n* log *n*) for *n* records and entries of the types.
  @discardableResult
  public func forget(_ types: [RecordType]) async throws(SyncError) -> [OutboxEntry] {
    for type in types {
      _ = try schema.entity(type, during: "forgetting \(type)")
      guard let other = schema.referrers(to: type).first(where: { !types.contains($0.type) }) else {
        continue
      }
      throw SyncError(
        .invalidConfiguration, during: "forgetting \(type)",
        "\(other.type).\(other.field) refers to it. Forget both types together.")
    }
    let now = environment.clock.timestamp
    return try await forgetting { (oblivion) throws(SyncError) in
      var edits: [OutboxEntry] = []
      for type in types.sorted() { edits += try oblivion.forget(type, breakingGroupsAt: now) }
      return edits
    }
  }

  /// Makes the store forget some records, and deletes nothing at the remote.
  ///
  /// Their edits, conflicts, withheld changes and kept values go too. A forgotten record is absent here
  /// until the remote changes it, or the app writes it.
  ///
  /// - Returns: The edits of the records that were not pushed, or whose answer was lost.
  /// - Throws: `invalidEdit` for a record to which a live record outside of these refers by an ordered
  ///   reference; `syncAlreadyInProgress` during a sync; the store's codes. Nothing was forgotten.
  /// - Complexity: O(*n* log *n*) for *n* records and conflicts of their types.
  @discardableResult
  public func forget(records ids: [RecordID]) async throws(SyncError) -> [OutboxEntry] {
    for id in ids { _ = try schema.entity(id.type, during: "forgetting \(id)") }
    let now = environment.clock.timestamp
    return try await forgetting { [schema] (oblivion) throws(SyncError) in
      let ids = try ids.map { (id) throws(SyncError) in try oblivion.transaction.current(id) }
      let edits = try oblivion.transaction.outbox(for: ids)
      try oblivion.transaction.breakGroups(of: edits.map(\.id), isForgotten: true, at: now)
      try oblivion.transaction.endEdits(edits.map(\.id))
      let withheld = try oblivion.transaction.withheld(for: ids.map { .record($0) })
      try oblivion.transaction.release(withheld.map(\.key))
      try oblivion.forgetValues(of: ids)
      let live = zip(ids, try oblivion.transaction.records(withIDs: ids)).compactMap(\.1)
      let unsent = Oblivion.neverSent(edits)
      try oblivion.transaction.delete(
        live.map { record in
          let isOfNoRemote = unsent.contains(record.id) || schema[record.id.type]?.access == .local
          return Tombstone(id: record.id, version: record.version.forgotten(isOfNoRemote))
        })
      if let id = try oblivion.transaction.referenced(among: live.map(\.id)).min() {
        throw SyncError(
          .invalidEdit, during: "forgetting \(id)", "Records of the store refer to it. Forget them too.")
      }
      return edits
    }
  }

  private func forgetting(
    _ body: @escaping @Sendable (Oblivion) throws(SyncError) -> [OutboxEntry]
  ) async throws(SyncError) -> [OutboxEntry] {
    let account = environment.account
    let edits = try await Oblivion.run(in: environment.store) { (oblivion) throws(SyncError) in
      try StoreAccount.demand(account, in: oblivion.transaction)
      return try body(oblivion)
    }
    environment.emit(.edited(.everything))
    return edits
  }
}

/// The removal of everything that an account has left in a store.
private struct Oblivion {
  let transaction: any StoreTransaction

  init(_ transaction: any StoreTransaction) {
    self.transaction = transaction
  }

  /// Forgets in one transaction, while no sync runs.
  ///
  /// - Throws: `syncAlreadyInProgress` during a sync; what the body throws; the store's codes.
  static func run(
    in store: any LocalStore, _ body: @escaping @Sendable (Oblivion) throws(SyncError) -> [OutboxEntry]
  ) async throws(SyncError) -> [OutboxEntry] {
    let lease = try await store.acquireLease(for: .seconds(60))
    let forgotten = await Result(of: { () throws(SyncError) in
      try await store.write(.app) { (transaction) throws(SyncError) in try body(Oblivion(transaction)) }
    })
    // An unreleased lease expires by itself.
    try? await store.release(lease)
    return try forgotten.get()
  }

  /// - Parameter now: When edits of other types are refused that belong together with forgotten ones; `nil` if
  ///   all types are forgotten.
  func forget(_ type: RecordType, breakingGroupsAt now: Timestamp? = nil) throws(SyncError) -> [OutboxEntry] {
    let edits = try forgetEdits(of: type, breakingGroupsAt: now)
    try forgetWithheld(of: type)
    try forgetConflicts(of: type)
    try forgetValues(of: type)
    try forgetRecords(of: type, neverSent: Self.neverSent(edits))
    try beginEpoch(of: type)
    return edits
  }

  /// The records that the remote cannot have, as their insertions were never sent.
  static func neverSent(_ edits: [OutboxEntry]) -> Set<RecordID> {
    Set(edits.filter { $0.base == .none && $0.sent == nil }.map(\.id))
  }

  func run() throws(SyncError) -> [OutboxEntry] {
    var edits: [OutboxEntry] = []
    for entity in try transaction.registeredEntities() {
      let epoch = try transaction.checkpoint(for: entity.type)?.epoch ?? 0
      edits += try forget(entity.type)
      try FormerAccount(epoch: epoch).save(entity.type, in: transaction)
    }
    try transaction.removeConflicts(settledBefore: Timestamp(microseconds: .max))
    for family in ValueFamily.allCases where family.isOfAccount { try forgetValues(under: family.rawValue) }
    return edits
  }

  private func forgetEdits(
    of type: RecordType, breakingGroupsAt now: Timestamp?
  ) throws(SyncError) -> [OutboxEntry] {
    var all: [OutboxEntry] = []
    var portions = transaction.portions(outbox: type)
    while let entries = try portions.next() {
      all += entries
      if let now { try transaction.breakGroups(of: entries.map(\.id), isForgotten: true, at: now) }
      try transaction.endEdits(entries.map(\.id))
    }
    return all
  }

  private func forgetWithheld(of type: RecordType) throws(SyncError) {
    var portions = transaction.portions(withheld: type, Set(WithheldChange.Kind.allCases))
    while let entries = try portions.next() { try transaction.release(entries.map(\.key)) }
  }

  private func forgetRecords(of type: RecordType, neverSent: Set<RecordID>) throws(SyncError) {
    let isLocal = try transaction.registeredEntities().contains { $0.type == type && $0.access == .local }
    var portions = transaction.portions(rows: type)
    while let rows = try portions.next() {
      // Most rows of deleted records stay as they are.
      let changed = rows.filter { $0.record != nil || $0.version == .unversioned }
      if changed.isEmpty { continue }
      try transaction.delete(
        changed.map { row in
          FormerAccount.remnant(of: row.id, row.version.forgotten(isLocal || neverSent.contains(row.id)))
        })
    }
  }

  /// Makes the next sync list everything, with versions that are newer than those that were forgotten.
  private func beginEpoch(of type: RecordType) throws(SyncError) {
    let former = try transaction.checkpoint(for: type)
    var checkpoint = Checkpoint(
      scope: Checkpoint.Scope(
        source: "", query: "", schemaVersion: 0, store: try transaction.storeIdentity()))
    checkpoint.lastPass = former?.lastPass ?? 0
    checkpoint.epoch = former?.epoch ?? 0
    try transaction.setCheckpoint(checkpoint, for: type)
    try transaction.clearMarks(type)
  }

  private func forgetConflicts(
    of type: RecordType, where isOne: (RecordID) -> Bool = { _ in true }
  ) throws(SyncError) {
    var portions = transaction.portions(conflicts: type)
    while let conflicts = try portions.next() {
      try transaction.removeConflicts(conflicts.filter { isOne($0.id) }.map(\.number))
    }
  }

  /// Forgets what is kept beside a type and its records.
  private func forgetValues(of type: RecordType) throws(SyncError) {
    let ofTypes: [ValueFamily] = [.listingGaps, .moved, .postponements, .rebuilds, .status]
    for place in try ofTypes.map(\.rawValue) + transaction.placesBesideRecords() {
      try transaction.setValue(nil, forKey: "\(place)\(type)")
      try forgetValues(under: "\(place)\(type)/")
    }
  }

  /// Forgets the conflicts over records, and what the app has kept beside them.
  func forgetValues(of ids: [RecordID]) throws(SyncError) {
    let ids = Set(ids)
    for type in Set(ids.map(\.type)).sorted() { try forgetConflicts(of: type, where: ids.contains) }
    for place in try transaction.placesBesideRecords() {
      try transaction.apply { $0.values = ids.map { StoreChanges.KeptValue("\(place)\($0)", nil) } }
    }
  }

  private func forgetValues(under prefix: String) throws(SyncError) {
    var portions = transaction.portions(keys: prefix)
    while let keys = try portions.next() {
      try transaction.apply { $0.values = keys.map { StoreChanges.KeptValue($0, nil) } }
    }
  }
}

extension ValueFamily {
  /// Whether the values tell something of an account or of its records.
  fileprivate var isOfAccount: Bool {
    switch self {
    case .account, .expiring, .groups, .history, .listingGaps, .moved, .postponements, .push, .rebuilds,
      .status,
      .throttle:
      true
    case .checkpoints, .declarations, .edits, .migrations, .sourceEpochs, .sync: false
    }
  }
}

/// What an account has left of a type in a store that was made to forget it.
///
/// The store keeps the rows, deleted, for their versions. Such a row is no deletion by the next account,
/// which may have a record under the same key.
struct FormerAccount {
  /// The type's epoch when the account was forgotten. The next sync begins another one.
  let epoch: Int64

  private static func key(_ type: RecordType) -> ValueKey<Int64> { ValueKey(.edits, "former/\(type)") }

  /// Saves what remains of a type.
  func save(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.set(epoch, for: Self.key(type))
  }

  /// The deletion that remains of a row. A record that no remote had gets a version, which has an epoch.
  static func remnant(of id: RecordID, _ version: Version) -> Tombstone {
    Tombstone(id: id, version: version == .unversioned ? .undated : version)
  }

  /// Whether a state is all that remains of a record.
  ///
  /// - Parameter type: The record's type.
  static func left(
    _ state: StoredState, of type: RecordType, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Bool {
    guard state.isDeleted, state.version != .unversioned else { return false }
    if state.version == .ofNoRemote { return true }
    return try snapshot.value(of: key(type)).map { state.version.epoch <= $0 } ?? false
  }
}

extension Version {
  /// The version of a forgotten record that no remote had: it may be made here as if it had never been.
  fileprivate static let ofNoRemote = Version(epoch: -1, modifiedAt: Timestamp(microseconds: 0))

  /// The version of the deletion that remains of a record.
  fileprivate func forgotten(_ isOfNoRemote: Bool) -> Version {
    isOfNoRemote && self == .unversioned ? .ofNoRemote : self
  }
}

extension StoreSnapshot {
  /// Returns the state of a record; `nil` for one that is unknown to this account.
  func knownState(of id: RecordID) throws(SyncError) -> StoredState? {
    guard let state = try state(of: id) else { return nil }
    return try FormerAccount.left(state, of: id.type, in: self) ? nil : state
  }
}
