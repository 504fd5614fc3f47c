import SyncJSON
public import SyncModels
public import SyncPorts

/// A data set that is bundled with the app and loaded at its first launch.
///
/// It gives the app records to show before the first sync. The data set is one JSON document:
///
/// ```json
/// {"format": 1, "types": {"teams": {"token": "…", "records": [{"id": "BOS", …}]}}}
/// ```
///
/// A type may carry the token of its records' state. The first sync is then a delta from that
/// token. Without a token it is a complete listing, which also removes the records that are no
/// longer at the remote. If the remote sends no tombstones, the sync after that delta is a complete
/// listing, which finds the deletions since the data set was made. Bundled rows lose to any copy
/// that the remote sends.
public struct Bootstrap: Sendable {
  private let bytes: [UInt8]
  private let layout: RecordLayout

  /// The result of a load.
  public struct Result: Hashable, Sendable {
    /// The number of loaded records of each type.
    ///
    /// Types that were synced or loaded before are absent.
    public var loaded: [RecordType: Int] = [:]
  }

  /// Creates a data set from the document's bytes, which ``load(into:schema:source:clock:)`` reads.
  ///
  /// - Parameters:
  ///   - bytes: The document.
  ///   - layout: The places of each record's key and modification time.
  public init(_ bytes: [UInt8], layout: RecordLayout) {
    self.bytes = bytes
    self.layout = layout
  }

  /// Loads the types that the store has neither synced nor loaded yet.
  ///
  /// Types are loaded in dependency order and in short transactions. A type that is shown only
  /// whole is loaded in one transaction. Loading again does nothing. After an interrupted load,
  /// loading resumes. As with records from a remote, a record that refers to an absent record is
  /// parked, and a malformed record is quarantined.
  ///
  /// - Parameters:
  ///   - store: The store to load into.
  ///   - schema: The types of the app.
  ///   - source: The remote of the tokens.
  ///   - clock: Gives the times of the lease and of the records.
  /// - Throws: `inconsistentData` when the document is not of this form; types loaded before stay
  ///   loaded. `syncAlreadyInProgress` while a sync runs; `leaseLost` when another process began a
  ///   sync after this one had stood still.
  /// - Complexity: O(*n*) in the document's bytes, which are held in memory.
  public func load(
    into store: any LocalStore, schema: SyncSchema, source: any RemoteRecordSource,
    clock: any Clock<Duration> = ContinuousClock()
  ) async throws(SyncError) -> Result {
    let sections = try BootstrapDocument(bytes).sections
    let known = Set(schema.entities.map(\.type))
    if let stranger = sections.keys.filter({ !known.contains($0) }).sorted().first {
      throw BootstrapDocument.flaw("It has records of the type \(stranger), which is not declared.")
    }
    let schema = schema.synced(with: source, nil)
    try await StoredDeclarations.register(schema, with: store, at: clock.timestamp)
    let duration = Duration.seconds(60)
    let lease = try await store.acquireLease(for: duration)
    return try await LeaseKeeper.hold(lease, of: store, by: schema, clock: clock, for: duration) {
      (lease) throws(SyncError) in
      var result = Result()
      for entity in schema.entities {
        guard let section = sections[entity.type] else { continue }
        let load = SectionLoad(
          entity: entity, schema: schema, layout: layout, section: section, source: source,
          fence: lease.fence, now: clock.timestamp)
        if let count = try await load.run(lease) { result.loaded[entity.type] = count }
      }
      return result
    }
  }
}

/// The parsed document of a bundled data set: a token and records for each type.
struct BootstrapDocument {
  struct Section: Sendable {
    var token: SyncToken?
    var records: [ArraySlice<UInt8>] = []
  }

  private(set) var sections: [RecordType: Section] = [:]

  init(_ bytes: [UInt8]) throws(SyncError) {
    var format: Int64?
    do throws(JSONError) {
      try JSONScanner.members(of: bytes[...]) { member throws(JSONError) in
        switch member.key {
        case "format":
          format = member.value.integer()
        case "types":
          try JSONScanner.members(of: member.value.bytes) { type throws(JSONError) in
            sections[RecordType(type.key)] = try Self.section(type.value)
          }
        default:
          break
        }
      }
    } catch {
      throw Self.flaw(error.description)
    }
    guard format == 1 else { throw Self.flaw("Its \"format\" is not 1.") }
  }

  private static func section(_ value: JSONValueSlice) throws(JSONError) -> Section {
    var section = Section()
    try JSONScanner.members(of: value.bytes) { member throws(JSONError) in
      switch member.key {
      case "token":
        section.token = member.value.string().map { SyncToken($0) }
      case "records":
        try JSONScanner.elements(of: member.value.bytes) { element throws(JSONError) in
          section.records.append(element.bytes)
        }
      default:
        break
      }
    }
    return section
  }

  static func flaw(_ message: String) -> SyncError {
    SyncError(
      .inconsistentData, during: "reading the bundled data set",
      "The bundled data set is not of the form {\"format\":1,\"types\":{…}}. \(message)")
  }
}

/// Loads one type's bundled records into the store, in portions.
///
/// A type that the store knows already is skipped.
struct SectionLoad: Sendable {
  var entity: Entity
  var schema: SyncSchema
  var layout: RecordLayout
  var section: BootstrapDocument.Section
  var source: any RemoteRecordSource
  var fence: Int64
  var now: Timestamp

  /// Loads the section and returns the number of its records; `nil` for a known type.
  func run(_ lease: LeaseKeeper) async throws(SyncError) -> Int? {
    // Readers of a type that is shown only whole see all of it or nothing.
    let size = entity.visibility == .wholeEntity ? section.records.count : MergeContext.portion
    var start = 0
    repeat {
      let (records, end) = (start, min(start + size, section.records.count))
      let isNew = try await lease.write { (transaction) throws(SyncError) in
        try load(records..<end, in: transaction)
      }
      guard isNew else { return nil }
      start = end
    } while start < section.records.count
    return section.records.count
  }

  /// Loads some records, and with the last ones the checkpoint of the first sync.
  ///
  /// - Returns: Whether the type was new to the store.
  private func load(_ places: Range<Int>, in transaction: any StoreTransaction) throws(SyncError) -> Bool {
    guard try transaction.checkpoint(for: entity.type) == nil else { return false }
    let reader = RecordReader(entity, layout: layout)
    var merge = PageMerge(
      entity,
      context: MergeContext(
        schema: schema, edits: EditOptions(), finder: .sync(fence: fence), now: now, markPass: nil))
    let changes = places.map { place in
      let location = "bundled \(entity.type), record \(place + 1)"
      return Incoming(reader.read(section.records[place], location: location).unversioned)
    }
    try merge.mergeAndRelease(changes, in: transaction)
    guard places.upperBound == section.records.count else { return true }
    var checkpoint = Checkpoint(
      scope: Checkpoint.Scope(
        source: source.identity, query: source.query(for: entity.type), schemaVersion: entity.schemaVersion,
        store: try transaction.storeIdentity()))
    checkpoint.committed = section.token
    checkpoint.committedAt = section.token == nil ? nil : now
    try transaction.setCheckpoint(checkpoint, for: entity.type)
    return true
  }
}

extension RecordChange {
  /// The same change without a version, as no remote has confirmed it.
  fileprivate var unversioned: RecordChange {
    switch self {
    case .upsert(var record):
      record.version = .unversioned
      return .upsert(record)
    case .tombstone(var tombstone):
      tombstone.version = .unversioned
      return .tombstone(tombstone)
    case .malformed:
      return self
    }
  }
}
