public import SyncModels

/// A remote that records are read from, one page at a time.
///
/// For implementers: answer one request, and leave looping, retrying, ordering and merging to the
/// engine. Within a pass, pages are requested one after another, while passes over different types
/// may overlap. A repeated request with the same position is answered from the same place.
public protocol RemoteRecordSource: Sendable {
  /// The identity of the remote: the same for all processes that read the same data.
  ///
  /// Other data have another identity. Checkpoints of another identity are void. No credentials
  /// belong in it.
  var identity: String { get }

  /// The capabilities of the source, which do not change while the source exists.
  var capabilities: SourceCapabilities { get }

  /// Returns the capabilities for the records of one type, by default those of the source.
  ///
  /// The engine goes by them, so that a type whose versions have no order, or whose deletions are not
  /// listed, does not weaken the others. They do not change while the source exists.
  func capabilities(of type: RecordType) -> SourceCapabilities

  /// Returns the filter that this source applies to a type.
  ///
  /// A change of it voids the type's checkpoint. A source without filters returns the same text
  /// each time; so does the default, the empty one.
  func query(for type: RecordType) -> String

  /// Returns whose data the source reads; `nil` if that never changes, or cannot be told.
  ///
  /// The engine asks at the beginning and at the end of each sync, so answer without a request if
  /// nothing can have changed since the last call. By default it is `nil`.
  ///
  /// - Throws: ``SyncError``, which ends the sync; `remoteUnavailable` is retried.
  func account() async throws(SyncError) -> RemoteAccount?

  /// Returns the page that begins at a position.
  ///
  /// - A start without a token lists everything, with coverage `everything`.
  /// - Malformed records come as ``RecordChange/malformed(_:)`` in their place; they never fail the
  ///   page.
  /// - A listing includes every record that existed all the time, whatever changes meanwhile. A
  ///   change during the pass is either in it or in the next delta, which starts from the token
  ///   that the source took *before* it listed anything.
  /// - Throws: ``SyncError``: `remoteUnavailable` and `invalidResponse` are retried.
  ///   `invalidResponse` after the last attempt, `quotaExceeded`, `permissionDenied`,
  ///   `inconsistentData` and `invalidConfiguration` end the pass over this type alone. Any other
  ///   ends the sync. A void token is not an error but the continuation `reset`.
  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage

  /// Returns the current copies of some records, for sources that declare `supportsLookup`.
  ///
  /// - Returns: Upserts of those that exist; tombstones, or nothing, for the others.
  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange]
}

extension RemoteRecordSource {
  /// Returns ``capabilities``: all types are alike.
  public func capabilities(of type: RecordType) -> SourceCapabilities { capabilities }

  /// Returns the empty filter: every record of the type.
  public func query(for type: RecordType) -> String { "" }

  /// Returns `nil`: the source always reads the same account's data.
  public func account() async throws(SyncError) -> RemoteAccount? { nil }

  /// Throws, because the source has not declared lookups.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    throw SyncError(
      .invalidConfiguration, during: "looking up records of \(entity.type)", "\(identity) has no lookup.")
  }
}
