import SyncCore
import SyncJSON
public import SyncModels
public import SyncPorts

/// Takes over what can be read of a damaged store into a new one.
///
/// Local edits come first, then conflicts and kept values, which exist nowhere else, then records.
/// Records come without versions, so that any copy of the remote replaces them, and checkpoints
/// without tokens, so that the next sync lists everything and removes what the remote lacks. It
/// fetches what could not be read. Withheld changes are not taken over, because that listing
/// withholds them again; records that a clean-up hid are shown until the next one.
public struct StoreSalvage: Sendable {
  private let source: any SalvageSource
  private let store: any LocalStore
  private let limit: Int
  private let clock: any Clock<Duration>
  private let onProgress: @Sendable (MaintenanceProgress) -> Void

  /// Describes a salvage.
  ///
  /// - Parameters:
  ///   - source: The damaged store. ``PortSalvage`` reads any store.
  ///   - store: A new store without registered types.
  ///   - limit: The most losses to keep in the report; all are counted.
  ///   - clock: Measures the pauses between two looks at a token.
  ///   - onProgress: Is called after each portion of a type's records.
  public init(
    from source: any SalvageSource, to store: any LocalStore, limit: Int = 1000,
    clock: any Clock<Duration> = ContinuousClock(),
    onProgress: @escaping @Sendable (MaintenanceProgress) -> Void = { _ in }
  ) {
    self.onProgress = onProgress
    self.source = source
    self.store = store
    self.limit = max(1, limit)
    self.clock = clock
  }

  /// Takes over everything that can be read.
  ///
  /// After an error or a cancellation, the new store is incomplete: remove it.
  ///
  /// - Parameter token: Stops the salvage between two portions.
  /// - Throws: `invalidConfiguration` for a store that is not new; `storeUnreadable` if nothing of
  ///   the damaged store can be read; `cancelled`; or what the new store throws.
  /// - Complexity: O(*n* log *n*) in the entries.
  public func run(token: (any CancellationToken)? = nil) async throws(SyncError) -> SalvageReport {
    let isNew = try await store.read { (snapshot) throws(SyncError) in
      try snapshot.registeredEntities().isEmpty
    }
    guard isNew else {
      throw SyncError(
        .invalidConfiguration, during: "salvaging a store",
        "The store to salvage into has record types already; it has to be a new one.")
    }
    var run = try SalvageRun(
      source: source, store: store, stop: StopSignal(token: token), clock: clock,
      report: SalvageReport(limit: limit))
    try await run.register()
    let checkpoints = try await run.checkpoints()
    var edits = SalvagedEdits(epochs: checkpoints.mapValues(\.epoch))
    try await run.takeOverEdits(&edits)
    try await run.takeOverConflicts()
    try await run.takeOverValues()
    try await run.keep(checkpoints)
    for entity in run.schema.schema.entities {
      try await run.takeOverRecords(of: entity, onProgress)
    }
    return run.report
  }
}

/// The steps of a salvage.
struct SalvageRun {
  let source: any SalvageSource
  let store: any LocalStore
  let stop: StopSignal
  let clock: any Clock<Duration>
  var report: SalvageReport
  private(set) var schema: SalvageSchema

  init(
    source: any SalvageSource, store: any LocalStore, stop: StopSignal, clock: any Clock<Duration>,
    report: SalvageReport
  ) throws(SyncError) {
    self.source = source
    self.store = store
    self.stop = stop
    self.clock = clock
    self.report = report
    schema = try SalvageSchema([])
  }

  /// Reads a part, portion by portion, and lists its losses.
  private mutating func walk(
    _ part: SalvagePart, listsLosses: Bool = true,
    _ use: (inout SalvageRun, [SalvagedEntry]) async throws(SyncError) -> Void
  ) async throws(SyncError) {
    var place: SalvagePlace?
    while true {
      if stop.isRaised {
        throw SyncError(.cancelled, during: "salvaging a store", "The salvage was stopped.")
      }
      let portion = try await stop.stopping(clock: clock) { [source, place] () throws(SyncError) in
        try await source.portion(of: part, after: place)
      }
      if listsLosses { report.add(portion.losses) }
      try await use(&self, portion.entries)
      guard let next = portion.next else { return }
      place = next
    }
  }

  // MARK: Declarations

  mutating func register() async throws(SyncError) {
    var entities: [Entity] = []
    try await walk(.declarations) { (_, entries) in
      for case .declaration(let entity) in entries { entities.append(entity) }
    }
    schema = try SalvageSchema(entities)
    report.add(schema.losses)
    try await store.register(schema.schema)
  }

  /// Registers the types of some edits that have no declaration.
  private mutating func register(typesOf entries: [OutboxEntry]) async throws(SyncError) {
    var isWider = false
    for type in Set(entries.map(\.id.type)).sorted() where schema.schema[type] == nil {
      if schema.add(type) { isWider = true }
    }
    if isWider { try await store.register(schema.schema) }
  }

  // MARK: Checkpoints

  /// Reads the checkpoints, and returns those without tokens for the new store.
  mutating func checkpoints() async throws(SyncError) -> [RecordType: Checkpoint] {
    let identity = try await store.read { (snapshot) throws(SyncError) in try snapshot.storeIdentity() }
    let schema = schema.schema
    var found: [RecordType: Checkpoint] = [:]
    try await walk(.values, listsLosses: false) { (_, entries) in
      for case .value(let key, let bytes) in entries where key.hasPrefix(Checkpoint.keyPrefix) {
        let type = RecordType(String(key.dropFirst(Checkpoint.keyPrefix.count)))
        guard schema[type] != nil, let former = try? Checkpoint(json: bytes) else { continue }
        var scope = former.scope
        scope.store = identity
        var checkpoint = Checkpoint(scope: scope)
        checkpoint.epoch = former.epoch
        checkpoint.lastPass = former.lastPass
        found[type] = checkpoint
      }
    }
    return found
  }

  func keep(_ checkpoints: [RecordType: Checkpoint]) async throws(SyncError) {
    if checkpoints.isEmpty { return }
    try await store.write(.app) { (transaction) throws(SyncError) in
      for (type, checkpoint) in checkpoints.sorted(by: { $0.key < $1.key }) {
        try transaction.setCheckpoint(checkpoint, for: type)
      }
    }
  }

  // MARK: Local state

  mutating func takeOverEdits(_ edits: inout SalvagedEdits) async throws(SyncError) {
    var repair = edits
    try await walk(.outbox) { (run, entries) throws(SyncError) in
      var found: [OutboxEntry] = []
      for case .edit(let entry) in entries {
        let type = run.schema.declared(entry.id.type) ?? entry.id.type
        if let entry = repair.repaired(entry.of(type)) {
          found.append(entry)
        } else {
          run.report.add([
            SalvageLoss(
              .outbox, type: entry.id.type, key: entry.id.key,
              "the edit has no content, or its record has another edit")
          ])
        }
      }
      try await run.queue(found)
    }
    edits = repair
  }

  private mutating func queue(_ found: [OutboxEntry]) async throws(SyncError) {
    if found.isEmpty { return }
    try await register(typesOf: found)
    let schema = schema.schema
    let entries = found.filter { schema[$0.id.type] != nil }
    for entry in found where schema[entry.id.type] == nil {
      report.add([SalvageLoss(.outbox, type: entry.id.type, key: entry.id.key, "the type has no valid name")])
    }
    try await store.write(.app) { (transaction) throws(SyncError) in
      var changes = StoreChanges()
      for entry in entries {
        guard let entity = schema[entry.id.type] else { continue }
        switch entry.visible(of: entity) {
        case .upsert(let record): changes.put.append(record)
        case .tombstone(let tombstone): changes.deleted.append(tombstone)
        case .malformed: break
        }
        changes.queued.append(entry)
      }
      try transaction.apply(changes)
    }
    for entry in entries { report.types[entry.id.type, default: .init()].edits += 1 }
  }

  mutating func takeOverConflicts() async throws(SyncError) {
    try await walk(.conflicts) { (run, entries) throws(SyncError) in
      var conflicts: [Conflict] = []
      for case .conflict(var conflict) in entries {
        conflict.number = 0
        if let flaw = conflict.flaw {
          run.report.add([SalvageLoss(.conflicts, type: conflict.id.type, key: conflict.id.key, flaw)])
        } else {
          conflicts.append(conflict)
        }
      }
      guard !conflicts.isEmpty else { return }
      let found = conflicts
      try await run.store.write(.app) { (transaction) throws(SyncError) in try transaction.log(found) }
      run.report.conflicts += found.count
    }
  }

  /// Takes over kept values, the app's own among them.
  mutating func takeOverValues() async throws(SyncError) {
    try await walk(.values) { (run, entries) throws(SyncError) in
      var values: [StoreChanges.KeptValue] = []
      for case .value(let key, let bytes) in entries {
        let family = ValueFamily(of: key)
        if let family, !family.survivesSalvage { continue }
        if key.isEmpty {
          run.report.add([SalvageLoss(.values, "a value has no key")])
        } else if family != nil, (try? JSONScanner.validate(bytes[...])) == nil {
          run.report.add([SalvageLoss(.values, key: key, "the value is not JSON")])
        } else {
          values.append(StoreChanges.KeptValue(key, bytes))
        }
      }
      guard !values.isEmpty else { return }
      let found = values
      try await run.store.write(.app) { (transaction) throws(SyncError) in
        try transaction.apply { $0.values = found }
      }
      run.report.values += found.count
    }
  }

  // MARK: Records

  /// Takes over a type's records whose references are live in the new store.
  ///
  /// Where records refer to others of the type, the walk is repeated as long as it shows more.
  mutating func takeOverRecords(
    of entity: Entity, _ onProgress: @Sendable (MaintenanceProgress) -> Void
  ) async throws(SyncError) {
    var left = 0
    var rounds = 0
    repeat {
      let before = report.types[entity.type]?.records ?? 0
      let isFirst = rounds == 0
      left = 0
      try await walk(.records(entity), listsLosses: isFirst) { (run, entries) throws(SyncError) in
        var records: [Record] = []
        for case .record(let record) in entries {
          guard let record = record.unversioned(of: entity) else {
            if isFirst {
              run.report.add([
                SalvageLoss(
                  .records, type: entity.type, key: record.id.key, "the payload is not one JSON object")
              ])
            }
            continue
          }
          records.append(record)
        }
        left += try await run.put(records, of: entity)
        onProgress(
          MaintenanceProgress(entity.type.rawValue, done: run.report.types[entity.type]?.records ?? 0))
      }
      rounds += 1
      if report.types[entity.type]?.records ?? 0 == before { break }
    } while left > 0 && entity.refersToItself && rounds < Self.maximumRounds
    if left > 0 { report.types[entity.type, default: .init()].leftOut = left }
  }

  private static let maximumRounds = 64

  /// Puts records without a row, and returns how many are left out.
  private mutating func put(_ found: [Record], of entity: Entity) async throws(SyncError) -> Int {
    let candidates = found.filter { $0.schemaVersion <= entity.schemaVersion }
    let newer = found.count - candidates.count
    if candidates.isEmpty { return newer }
    let (put, left) = try await store.write(.app) { (transaction) throws(SyncError) in
      let known = try transaction.states(of: candidates.map(\.id), comparing: [])
      var waiting = zip(candidates, known).filter { $1 == nil }.map(\.0).uniqueByID
      let targets = Set(waiting.flatMap { entity.requiredReferences(of: $0) }).sorted()
      // Records of one portion may refer to each other, in any order. All of them are shown at
      // once, so those stay that refer to nothing but live records and each other.
      let absent = Set(try transaction.absent(among: targets))
      let all = waiting.count
      var count: Int
      repeat {
        count = waiting.count
        let ids = Set(waiting.map(\.id))
        waiting.removeAll { record in
          entity.requiredReferences(of: record).contains { absent.contains($0) && !ids.contains($0) }
        }
      } while waiting.count < count
      try transaction.put(waiting)
      return (waiting.count, all - waiting.count)
    }
    if put > 0 { report.types[entity.type, default: .init()].records += put }
    return left + newer
  }
}

extension Record {
  /// The copy without a version, with its declared fields; `nil` if malformed.
  fileprivate func unversioned(of entity: Entity) -> Record? {
    guard !id.key.isEmpty, schemaVersion >= 1, let fields = try? entity.fields(of: payload) else {
      return nil
    }
    return Record(
      id: id, version: .unversioned, schemaVersion: schemaVersion, payload: payload, fields: fields)
  }
}

extension [Record] {
  /// The first copy of each record.
  fileprivate var uniqueByID: [Record] {
    var seen: Set<RecordID> = []
    return filter { seen.insert($0.id).inserted }
  }
}

extension Conflict {
  /// The reason why a new store cannot log the conflict; `nil` for none.
  fileprivate var flaw: String? {
    if id.key.isEmpty || id.type.rawValue.isEmpty { return "the conflict names no record" }
    if case .malformed = remote { return "the remote side is not a copy or a deletion" }
    var payloads = [local.content.payload, base].compactMap(\.self)
    if case .upsert(let record) = remote { payloads.append(record.payload) }
    return payloads.allSatisfy(\.isObject) ? nil : "a payload of the conflict is not one JSON object"
  }
}
