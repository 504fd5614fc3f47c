public import SyncModels
public import SyncPorts

/// A data set that comes with the app, loaded at the first launch so that there is something to show before the first sync.
///
/// The data are one JSON document:
///
/// ```json
/// {"format": 1, "types": {"teams": {"token": "…", "records": [{"id": "BOS", …}]}}}
/// ```
///
/// A type may carry the token that its records were made at; the first sync is then a delta from there. Without one, it is a complete listing, which also
/// removes what is no longer there. Where the remote sends no tombstones, the sync after that delta is a complete listing, which tells what was deleted since the
/// bundle was made. Bundled rows lose to any copy that the remote sends.
public struct Bootstrap: Sendable {
  private let bytes: [UInt8]
  private let layout: RecordLayout

  /// What a load did.
  public struct Result: Hashable, Sendable {
    /// How many records of each type were loaded; types that had been synced or loaded before are not among them.
    public var loaded: [RecordType: Int] = [:]
  }

  /// Takes the document's bytes; nothing is read before ``load(into:schema:source:)``.
  ///
  /// - Parameter layout: Where in each record its key and modification time stand.
  public init(_ bytes: [UInt8], layout: RecordLayout) {
    self.bytes = bytes
    self.layout = layout
  }

  /// Loads the types that the store has neither synced nor loaded yet, in dependency order and in short transactions.
  ///
  /// A type that is shown only whole is loaded in one transaction. Loading again does nothing; after a load that was cut short it goes on. Records that refer to one that is not here are parked, and what cannot be read is quarantined, as if a remote had
  /// sent it.
  ///
  /// - Parameter source: The remote that the tokens are of.
  /// - Throws: `inconsistentData` when the document is not of this form; types loaded before stay loaded. `syncAlreadyInProgress` while a sync runs;
  ///   `leaseLost` when another process began one after this one had stood still.
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
    return try await LeaseKeeper.hold(of: store, clock: clock, for: .seconds(60)) {
      (keeper) throws(SyncError) in
      var result = Result()
      for entity in schema.entities {
        guard let section = sections[entity.type] else { continue }
        let load = SectionLoad(
          entity: entity, schema: schema, layout: layout, section: section, source: source,
          fence: keeper.fence, now: clock.timestamp)
        if let count = try await load.run(&keeper) { result.loaded[entity.type] = count }
      }
      return result
    }
  }
}
