import SyncCore
public import SyncModels
public import SyncPorts

/// Checks every invariant of a store that readers rely on, and changes nothing.
///
/// ```swift
/// let report = try await StoreVerification(of: store).run()
/// if !report.isSound { print(report.findings) }
/// ```
///
/// It reads in portions, each from a snapshot of its own, so the store may be in use. It compares
/// what the store says in different places: rows with lookups, fields with payloads, edits with
/// rows, entries with their counts. A store that conforms to `VerifiableStore` checks its own
/// format as well. It cannot find a changed byte that nothing else in the store depends on, such as
/// a member of a payload that is not declared; the next complete listing replaces such a copy.
public struct StoreVerification: Sendable {
  private let store: any LocalStore
  private let limit: Int
  private let isQuick: Bool
  private let clock: any Clock<Duration>
  private let onProgress: @Sendable (MaintenanceProgress) -> Void

  /// Describes the verification of a store.
  ///
  /// - Parameters:
  ///   - store: The store to check.
  ///   - limit: The most findings to keep; all are counted.
  ///   - isQuick: Whether the store leaves out checks of its own format that take long.
  ///   - clock: Measures the pauses between two looks at a token.
  ///   - onProgress: Is called after each portion.
  public init(
    of store: any LocalStore, limit: Int = 1000, isQuick: Bool = false,
    clock: any Clock<Duration> = ContinuousClock(),
    onProgress: @escaping @Sendable (MaintenanceProgress) -> Void = { _ in }
  ) {
    self.onProgress = onProgress
    self.store = store
    self.limit = max(1, limit)
    self.isQuick = isQuick
    self.clock = clock
  }

  /// Verifies the store.
  ///
  /// What cannot be read is a finding, not an error.
  ///
  /// - Parameter token: Stops the verification between two portions or checks.
  /// - Throws: `cancelled`; `storeFailure` if the process lacks memory or files, the connection to
  ///   a server is lost or the store was closed; `storeBusy` if the store could not be read in
  ///   time; `storeNewer` if a newer version of the library has written it meanwhile.
  /// - Complexity: O(*n* log *n*) for *n* rows and entries, as long as few edits leave one record;
  ///   each portion of the outbox reads all that do.
  public func run(
    token: (any CancellationToken)? = nil
  ) async throws(SyncError) -> VerificationReport {
    var walk = VerificationWalk(
      store: store, stop: StopSignal(token: token), limit: limit, onProgress: onProgress)
    if let verifiable = store as? any VerifiableStore {
      try walk.demandGoOn()
      let found = try await walk.stop.stopping(clock: clock) { [limit, isQuick] () throws(SyncError) in
        try await verifiable.formatFindings(limit: limit, isQuick: isQuick)
      }
      walk.report.add(found, limit: limit)
    }
    var entities: [Entity] = []
    try await walk.step(.schema, nil) { (snapshot) throws(SyncError) in
      let registered = try snapshot.registeredEntities()
      return (registered, SchemaCheck.findings(registered))
    } then: {
      entities = $0
    }
    var declarations = RecordsInLine()
    try await walk.step(.values, nil) { [entities] (snapshot) throws(SyncError) in
      (try RecordsInLine(of: entities, in: snapshot), [])
    } then: {
      declarations = $0
    }
    for entity in entities {
      try await verify(entity, declarations, &walk)
    }
    try await walk.portions(.conflicts, nil) { (snapshot, number: Int64?) throws(SyncError) in
      try ConflictCheck.portion(before: number, in: snapshot)
    }
    try await walk.portions(.values, nil) { (snapshot, key: String?) throws(SyncError) in
      try ValueCheck.portion(after: key, in: snapshot)
    }
    return walk.report
  }

  private func verify(
    _ entity: Entity, _ declarations: RecordsInLine, _ walk: inout VerificationWalk
  ) async throws(SyncError) {
    let type = entity.type
    let before = try await CountCheck.position(store)
    var walked = CountCheck.Walked()
    let rows = RowCheck(
      entity, isInLine: declarations.types.contains(type), staying: declarations.staying)
    let isWhole = try await walk.portions(.rows, type) { (snapshot, key: String?) throws(SyncError) in
      try rows.portion(after: key, in: snapshot)
    } counting: {
      walked.add($0)
    }
    if entity.naturalKey != nil {
      try await walk.portions(.naturalKeys, type) { (snapshot, key: String?) throws(SyncError) in
        try rows.sharedKeys(after: key, in: snapshot)
      }
    }
    let withheld = WithheldCheck(entity)
    try await walk.portions(.withheld, type) { (snapshot, key: WithheldChange.Key?) throws(SyncError) in
      try withheld.portion(after: key, in: snapshot)
    }
    let outbox = OutboxCheck(entity)
    try await walk.portions(.outbox, type) { (snapshot, stamp: EditStamp?) throws(SyncError) in
      try outbox.portion(after: stamp, in: snapshot)
    }
    try await walk.step(.counts, type) { (snapshot) throws(SyncError) in
      ((), try CountCheck.entries(of: type, in: snapshot))
    } then: {
    }
    guard isWhole else { return }
    // Rows that changed during the walk are counted again, in one snapshot.
    let isCurrent = try await CountCheck.position(store) == before
    let counted = isCurrent ? walked : nil
    try await walk.step(.counts, type) { (snapshot) throws(SyncError) in
      ((), try CountCheck.rows(of: type, counted, in: snapshot))
    } then: {
    }
  }
}

/// The findings of a verification, and the amount that was checked.
public struct VerificationReport: Sendable {
  /// The first findings, in the order of the walk.
  public private(set) var findings: [StoreFinding] = []
  /// The number of all findings.
  public private(set) var count = 0
  /// The number of entries that were checked, for each part that has entries.
  public internal(set) var checked: [StoreFinding.Part: Int] = [:]

  /// Whether the store has no contradiction.
  public var isSound: Bool { count == 0 }

  /// Creates an empty report.
  public init() {}

  /// Adds findings, and keeps the first ones.
  public mutating func add(_ found: [StoreFinding], limit: Int = .max) {
    findings += found.prefix(max(0, limit - findings.count))
    count += found.count
  }
}

/// Runs the checks of a verification over portions, each in a snapshot of its own.
struct VerificationWalk {
  /// The most entries of a portion.
  static let limit = 400

  let store: any LocalStore
  let stop: StopSignal
  let limit: Int
  let onProgress: @Sendable (MaintenanceProgress) -> Void
  var report = VerificationReport()

  /// A portion that was checked.
  struct Checked<Place: Sendable>: Sendable {
    /// The place after which the next portion begins; `nil` after the last one.
    var next: Place?
    var findings: [StoreFinding] = []
    /// The number of entries.
    var count: Int
    /// The number of live records, and of those without a mark.
    var live = 0
    var unmarked = 0
  }

  /// Checks one list, portion by portion.
  ///
  /// - Returns: Whether the whole list could be read.
  @discardableResult mutating func portions<Place: Sendable>(
    _ part: StoreFinding.Part, _ type: RecordType?,
    _ check: @Sendable (any StoreSnapshot, Place?) throws(SyncError) -> Checked<Place>,
    counting: (Checked<Place>) -> Void = { _ in }
  ) async throws(SyncError) -> Bool {
    var place: Place?
    var done = 0
    while true {
      try demandGoOn()
      let portion: Checked<Place>
      do throws(SyncError) {
        let start = place
        portion = try await store.read { (snapshot) throws(SyncError) in try check(snapshot, start) }
      } catch {
        try list(error, part, type)
        return false
      }
      report.add(portion.findings, limit: limit)
      report.checked[part, default: 0] += portion.count
      counting(portion)
      done += portion.count
      let list = part == .rows ? nil : part.rawValue
      onProgress(
        MaintenanceProgress([type?.rawValue, list].compactMap(\.self).joined(separator: ", "), done: done))
      guard let next = portion.next else { return true }
      place = next
    }
  }

  /// Checks in one snapshot, and uses the value that was read with it.
  mutating func step<Value: Sendable>(
    _ part: StoreFinding.Part, _ type: RecordType?,
    _ check: @Sendable (any StoreSnapshot) throws(SyncError) -> (Value, [StoreFinding]),
    then use: (Value) -> Void
  ) async throws(SyncError) {
    try demandGoOn()
    do throws(SyncError) {
      let (value, findings) = try await store.read { (snapshot) throws(SyncError) in try check(snapshot) }
      report.add(findings, limit: limit)
      use(value)
    } catch {
      try list(error, part, type)
    }
  }

  /// Ends the verification after a stop.
  func demandGoOn() throws(SyncError) {
    guard stop.isRaised else { return }
    throw SyncError(.cancelled, during: "verifying the store", "The verification was stopped.")
  }

  /// Lists that a part cannot be read. Other failures say nothing about the store.
  private mutating func list(
    _ error: SyncError, _ part: StoreFinding.Part, _ type: RecordType?
  ) throws(SyncError) {
    guard error.isOfDamage else { throw error }
    report.add([StoreFinding(part, type: type, "cannot be read further: \(error.message)")], limit: limit)
  }
}

extension SyncError {
  /// Whether a read failed because of the store's contents.
  var isOfDamage: Bool {
    isOfDamagedStore || code == .inconsistentData || code == .invalidConfiguration
  }
}
