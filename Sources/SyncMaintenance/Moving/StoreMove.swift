import SyncCore
public import SyncModels
public import SyncPorts

/// Moves a whole store to another place, in transactions that a kill cannot spoil.
///
/// ```swift
/// let move = try StoreMove(from: file, to: database, at: "postgres://db.example.com/league")
/// try await move.run()
/// ```
///
/// The old store takes no edits and no syncs from the beginning, and says where it has moved. The
/// new one takes its identity at the end, when everything is there and compared. A move that was
/// interrupted goes on when it is run again.
public struct StoreMove: Sendable {
  private let source: any MovableStore
  private let target: any MovableStore
  private let place: String
  private let stop: StopSignal
  private let onCopied: @Sendable (RecordType) -> Void
  private let onProgress: @Sendable (MaintenanceProgress) -> Void

  private static let portion = 1000
  private static let leaseDuration = Duration.seconds(60)
  /// The key of the progress, in the new store. It sorts before the engine's own keys.
  private static let key = "!move"

  /// How far a move has come.
  private struct Progress: Codable {
    /// The identity of the old store.
    var identity: String
    /// The types whose rows, withheld changes and edits are all there.
    var done: [RecordType] = []
    var part = Part.rows
    /// The last key of the rows of the type under way.
    var lastRow: String?
    /// Whether everything but the kept values is there.
    var hasConflicts = false
    /// Whether everything is there.
    var isComplete = false

    enum Part: String, Codable { case rows, withheld, outbox }
  }

  /// Describes a move.
  ///
  /// - Parameters:
  ///   - source: The store to move.
  ///   - target: An empty store, or one that this move has begun to fill.
  ///   - place: The place of the new store, as errors of the old one name it.
  ///   - token: Stops the move after the current portion.
  ///   - onProgress: Is called after each portion of a type's records.
  ///   - onCopied: Is called for each type whose records and edits are there.
  /// - Throws: `invalidConfiguration` if one of the stores cannot be moved.
  public init(
    from source: any LocalStore, to target: any LocalStore, at place: String,
    token: (any CancellationToken)? = nil,
    onProgress: @escaping @Sendable (MaintenanceProgress) -> Void = { _ in },
    onCopied: @escaping @Sendable (RecordType) -> Void = { _ in }
  ) throws(SyncError) {
    guard let source = source as? any MovableStore, let target = target as? any MovableStore else {
      throw SyncError(.invalidConfiguration, during: "moving a store", "One of the stores cannot be moved.")
    }
    (self.source, self.target, self.place) = (source, target, place)
    (stop, self.onProgress, self.onCopied) = (StopSignal(token: token), onProgress, onCopied)
  }

  /// Demands that a store has begun to move to a place.
  ///
  /// - Throws: `invalidConfiguration` if it has not.
  public static func demandMove(of source: any LocalStore, to place: String) async throws(SyncError) {
    let found = try await (source as? any MovableStore)?.placeMovedTo()
    guard found != place else { return }
    throw SyncError(
      .invalidConfiguration, during: "abandoning a move",
      found.map { "The old store has moved to \($0), and not to \(place); name that store." }
        ?? "The old store is in use; no move of it has begun.")
  }

  /// Makes the old store usable again, unless the new one has taken its place.
  ///
  /// The new store is no longer a target then. A move that went on there would end with a second
  /// store of the same identity.
  ///
  /// - Throws: `invalidConfiguration` if the move is complete, and what the stores throw.
  public func abandon() async throws(SyncError) {
    try await demandUnfinished()
    // A move under way has the lease, and would go on.
    let lease = try await target.acquireLease(for: Self.leaseDuration)
    try await releasing(lease) { () throws(SyncError) in
      try await demandUnfinished()
      // First, so that an abandonment that is interrupted can be repeated.
      if try await progress()?.identity == identity(of: source) { try await forgetProgress(lease) }
      try await source.retire(movedTo: nil)
    }
  }

  private func demandUnfinished() async throws(SyncError) {
    guard try await identity(of: source) == identity(of: target) else { return }
    throw SyncError(
      .invalidConfiguration, during: "abandoning a move",
      "The move is complete: the new store has the identity of the old one, and is in use.")
  }

  /// Moves the store, or goes on with a move.
  ///
  /// - Returns: Whether there was something to do; false if the store has moved already.
  /// - Throws: `invalidConfiguration` if the new store is not empty, or the move was abandoned;
  ///   `cancelled`, after which the move can go on; `inconsistentData` if the copy differs;
  ///   `syncAlreadyInProgress` while another process syncs or moves one of the stores; and what the
  ///   stores throw.
  /// - Complexity: O(*n*) in the entries of the store.
  @discardableResult public func run() async throws(SyncError) -> Bool {
    let identity = try await identity(of: source)
    if try await self.identity(of: target) == identity, try await progress() == nil {
      guard try await source.placeMovedTo() != nil else {
        throw SyncError(
          .invalidConfiguration, during: "moving a store",
          "The store at \(place) is a copy of the old one, such as a backup; name an empty store.")
      }
      return false
    }
    var progress = try await begin(identity)
    let lease = try await target.acquireLease(for: Self.leaseDuration)
    try await releasing(lease) { () throws(SyncError) in
      let entities = try await source.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities()
      }
      try await target.register(try SyncSchema(entities))
      for entity in entities where !progress.done.contains(entity.type) {
        try await copy(entity.type, &progress, lease)
      }
      if !progress.hasConflicts { try await copyConflicts(&progress, lease) }
      if !progress.isComplete { try await copyValues(&progress, lease) }
      try await verify(entities.map(\.type), lease)
      // The move may have been abandoned before this one had the lease, or after it was lost.
      try await keep(lease)
      try await demandRetirement()
      try await target.adopt(identity: identity)
      try await forgetProgress(lease)
    }
    return true
  }

  /// Holds the new store's lease for the time of some work.
  private func releasing(
    _ lease: Lease, _ work: () async throws(SyncError) -> Void
  ) async throws(SyncError) {
    do throws(SyncError) {
      try await work()
    } catch {
      // The lease ends by itself too.
      try? await target.release(lease)
      throw error
    }
    try await target.release(lease)
  }

  /// Renews the lease between two portions.
  ///
  /// - Throws: `cancelled` if a stop was requested, and `leaseLost`.
  private func keep(_ lease: Lease) async throws(SyncError) {
    if stop.isRaised { throw SyncError(.cancelled, during: "moving a store") }
    _ = try await target.renew(lease, for: Self.leaseDuration)
  }

  /// Whether the old store sends its readers to this place.
  ///
  /// - Throws: `storeReadOnly` if it sends them to another one.
  private func isRetired() async throws(SyncError) -> Bool {
    guard let found = try await source.placeMovedTo() else { return false }
    guard found == place else {
      throw SyncError(.storeReadOnly, during: "moving a store", "The store has moved to \(found).")
    }
    return true
  }

  /// Demands that the old store still sends its readers to this place.
  private func demandRetirement() async throws(SyncError) {
    if try await isRetired() { return }
    throw SyncError(
      .invalidConfiguration, during: "moving a store",
      "The move to \(place) was abandoned, and the old store is in use; name an empty store.")
  }

  // MARK: Beginning

  private func identity(of store: any MovableStore) async throws(SyncError) -> String {
    try await store.read { (snapshot) throws(SyncError) in try snapshot.storeIdentity() }
  }

  private func progress() async throws(SyncError) -> Progress? {
    let bytes = try await target.read { (snapshot) throws(SyncError) in try snapshot.value(forKey: Self.key) }
    return try bytes.map { (bytes) throws(SyncError) in
      try decoded(Progress.self, from: String(decoding: bytes, as: UTF8.self), what: "progress of a move")
    }
  }

  /// Continues a move, or begins one into an empty store.
  private func begin(_ identity: String) async throws(SyncError) -> Progress {
    if let progress = try await progress() {
      guard progress.identity == identity else {
        throw SyncError(
          .invalidConfiguration, during: "moving a store", "Another store is being moved to \(place).")
      }
      try await demandRetirement()
      return progress
    }
    let isEmpty = try await target.read { (snapshot) throws(SyncError) in
      let hasTypes = try !snapshot.registeredEntities().isEmpty
      let hasValues = try !snapshot.keys(withPrefix: "", after: nil, limit: 1).isEmpty
      return !hasTypes && !hasValues
    }
    guard isEmpty else {
      throw SyncError(
        .invalidConfiguration, during: "moving a store",
        "The store at \(place) holds something; name an empty one.")
    }
    let progress = Progress(identity: identity)
    let bytes = try Self.bytes(of: progress)
    if try await !isRetired() {
      // No sync is under way while this one has the lease, and none begins afterwards.
      let lease = try await source.acquireLease(for: Self.leaseDuration)
      try await source.retire(movedTo: place)
      try await source.release(lease)
    }
    let lease = try await target.acquireLease(for: Self.leaseDuration)
    try await target.write(.lease(lease)) { (transaction) throws(SyncError) in
      try transaction.setValue(bytes, forKey: Self.key)
    }
    try await target.release(lease)
    return progress
  }

  private func forgetProgress(_ lease: Lease) async throws(SyncError) {
    try await target.write(.lease(lease)) { (transaction) throws(SyncError) in
      try transaction.setValue(nil, forKey: Self.key)
    }
  }

  private static func bytes(of progress: Progress) throws(SyncError) -> [UInt8] {
    Array(try encoded(progress, what: "progress of a move").utf8)
  }

  /// Writes a portion together with the progress.
  private func write(
    _ progress: Progress, _ lease: Lease, _ set: @Sendable (inout StoreChanges) -> Void
  ) async throws(SyncError) {
    let bytes = try Self.bytes(of: progress)
    try await keep(lease)
    try await target.write(.lease(lease)) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      set(&changes)
      changes.values.append(.init(Self.key, bytes))
      try transaction.apply(changes)
    }
  }

  // MARK: Copying

  private func copy(_ type: RecordType, _ progress: inout Progress, _ lease: Lease) async throws(SyncError) {
    var done = 0
    while progress.part == .rows {
      let after = progress.lastRow
      let rows = try await source.read { (snapshot) throws(SyncError) in
        try snapshot.rows(type, .all, after: after, limit: Self.portion)
      }
      if rows.count < Self.portion { progress.part = .withheld }
      done += rows.count
      progress.lastRow = progress.part == .rows ? rows.last?.id.key : nil
      try await write(progress, lease) { changes in
        changes.put = rows.compactMap(\.record)
        changes.deleted = rows.filter { $0.record == nil }.map {
          Tombstone(id: $0.id, version: $0.version, entityTag: $0.entityTag)
        }
        changes.marked = rows.filter(\.isMarked).map(\.id)
      }
      onProgress(MaintenanceProgress(type.rawValue, done: done))
    }
    // Entries are found by their keys, so a portion that is copied again changes nothing.
    if progress.part == .withheld {
      var after: WithheldChange.Key?
      while true {
        let last = after
        let entries = try await source.read { (snapshot) throws(SyncError) in
          try snapshot.withheld(
            type, kinds: Set(WithheldChange.Kind.allCases), after: last, limit: Self.portion)
        }
        if entries.isEmpty { break }
        after = entries.last?.key
        try await write(progress, lease) { $0.withheld = entries }
      }
      progress.part = .outbox
    }
    var after: EditStamp?
    while true {
      let last = after
      let entries = try await source.read { (snapshot) throws(SyncError) in
        try snapshot.outbox(type, after: last, limit: Self.portion)
      }
      if entries.isEmpty { break }
      after = entries.last?.edit.stamp
      try await write(progress, lease) { $0.queued = entries }
    }
    progress.part = .rows
    progress.done.append(type)
    try await write(progress, lease) { _ in }
    onCopied(type)
  }

  /// Copies the conflicts in one transaction, because the new store numbers them.
  private func copyConflicts(_ progress: inout Progress, _ lease: Lease) async throws(SyncError) {
    let conflicts = try await source.read { (snapshot) throws(SyncError) in
      try Self.conflicts(in: snapshot)
    }
    progress.hasConflicts = true
    try await write(progress, lease) { $0.conflicts = conflicts }
  }

  /// The conflicts, the oldest one first.
  private static func conflicts(in snapshot: any StoreSnapshot) throws(SyncError) -> [Conflict] {
    var conflicts: [Conflict] = []
    while true {
      let portion = try snapshot.conflicts(nil, before: conflicts.last?.number, limit: portion)
      if portion.isEmpty { return conflicts.reversed() }
      conflicts += portion
    }
  }

  /// Copies checkpoints and all other kept values, at last.
  private func copyValues(_ progress: inout Progress, _ lease: Lease) async throws(SyncError) {
    let values = try await source.read { (snapshot) throws(SyncError) in try Self.values(in: snapshot) }
    progress.isComplete = true
    try await write(progress, lease) { $0.values = values }
  }

  private static func values(in snapshot: any StoreSnapshot) throws(SyncError) -> [StoreChanges.KeptValue] {
    var values: [StoreChanges.KeptValue] = []
    var last: String?
    while true {
      let keys = try snapshot.keys(withPrefix: "", after: last, limit: portion)
      if keys.isEmpty { return values }
      for key in keys where key != Self.key { values.append(.init(key, try snapshot.value(forKey: key))) }
      last = keys.last
    }
  }

  // MARK: Comparing

  /// Compares both stores element by element.
  private func verify(_ types: [RecordType], _ lease: Lease) async throws(SyncError) {
    for type in types {
      var last: String?
      while true {
        try await keep(lease)
        let after = last
        let (old, new) = try await both { (snapshot) throws(SyncError) in
          try snapshot.rows(type, .all, after: after, limit: Self.portion)
        }
        guard old == new else { throw difference("rows of \(type)") }
        guard let next = old.last?.id.key else { break }
        last = next
      }
      let (old, new) = try await both { (snapshot) throws(SyncError) in
        try snapshot.withheld(
          type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: .max)
      }
      guard old == new else { throw difference("withheld changes of \(type)") }
      let edits = try await both { (snapshot) throws(SyncError) in
        try snapshot.outbox(type, after: nil, limit: .max)
      }
      guard edits.0 == edits.1 else { throw difference("edits of \(type)") }
    }
    let conflicts = try await both { (snapshot) throws(SyncError) in
      try Self.conflicts(in: snapshot).map { conflict in
        var conflict = conflict
        // Each store numbers its own.
        conflict.number = 0
        return conflict
      }
    }
    guard conflicts.0 == conflicts.1 else { throw difference("conflicts") }
    let (old, new) = try await both { (snapshot) throws(SyncError) in try Self.values(in: snapshot) }
    guard old == new else { throw difference("kept values") }
  }

  private func both<Value: Sendable>(
    _ read: @Sendable (any StoreSnapshot) throws(SyncError) -> Value
  ) async throws(SyncError) -> (Value, Value) {
    (try await source.read(read), try await target.read(read))
  }

  private func difference(_ what: String) -> SyncError {
    SyncError(
      .inconsistentData, during: "comparing the stores",
      "The \(what) differ between the old and the new store. The old store is unchanged; abandon the move to take it into use again."
    )
  }
}
