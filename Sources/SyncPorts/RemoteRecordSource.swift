public import SyncModels

/// A place remote records are read from, one page at a time.
///
/// For whoever implements it: answer one request, and leave looping, retrying, ordering and merging to the engine.
/// Pages are asked for one after another within a pass, while passes over different types may overlap. A request that is
/// made again with the same position is answered from the same place.
public protocol RemoteRecordSource: Sendable {
  /// Which remote this is: the same for every process that reads the same data, another for any other data.
  ///
  /// Checkpoints of another identity are void. No credentials belong in it.
  var identity: String { get }

  /// What the source can do; it does not change while the source exists.
  var capabilities: SourceCapabilities { get }

  /// What of a type this source asks for, so that a change of it makes the type's checkpoint void.
  ///
  /// A source without filters answers with the same text each time; so does the default, the empty one.
  func query(for type: RecordType) -> String

  /// Returns the page that begins at a position.
  ///
  /// - A start without a token lists everything, with coverage `everything`.
  /// - Records that cannot be read come as ``RecordChange/malformed(_:)`` in their place; they never fail the page.
  /// - A listing misses nothing that existed all the time, whatever changes meanwhile: what changes during the pass is either in it
  ///   or in the next delta, which starts from the token that the source took *before* it listed anything.
  /// - Throws: ``SyncError``: `remoteUnavailable` and `invalidResponse` are tried again, `quotaExceeded`,
  ///   `permissionDenied` and `inconsistentData` end the pass over this type alone, any other ends the sync. A void token is no
  ///   error but the continuation `reset`.
  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage

  /// Returns the current copies of some records, for sources that declare `supportsLookup`.
  ///
  /// - Returns: Upserts of those that exist; tombstones, or nothing, for those that don't.
  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange]
}

extension RemoteRecordSource {
  /// No filter: every record of the type.
  public func query(for type: RecordType) -> String { "" }

  /// Refuses: the source has not declared that it can.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    throw SyncError(
      .invalidConfiguration, during: "looking up records of \(entity.type)", "\(identity) has no lookup.")
  }
}
