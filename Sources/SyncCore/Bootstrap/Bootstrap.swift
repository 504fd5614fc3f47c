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
    try await StoredDeclarations.noteRegistered(in: store, before: schema)
    try await store.register(schema)
    let duration = Duration.seconds(60)
    let lease = try await store.acquireLease(for: duration)
    return try await LeaseKeeper.hold(lease, of: store, clock: clock, for: duration) {
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
