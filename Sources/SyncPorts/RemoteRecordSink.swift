public import SyncModels

/// A remote that local edits are sent to, a batch at a time.
///
/// For implementers: apply each change of a batch on its own, or report why not. Queueing,
/// splitting, retrying, order and conflicts are the engine's. Apply a change only if the record at
/// the remote is what the change was made on. A change that is sent again under the same
/// ``OutgoingChange/key`` has one effect. A remote that remembers keys answers as before. For one
/// that does not, finding exactly this content there already, on top of that base, is the
/// acknowledgement.
public protocol RemoteRecordSink: Sendable {
  /// The identity of the remote, equal to that of the source that reads it back.
  var identity: String { get }

  /// Whether the remote keeps undeclared members of a payload, and returns them unchanged.
  ///
  /// If it does, edits are stamped in a member of the library's own, ``FieldName/editStamp``, and
  /// the later edit wins. If it does not, the edit that arrives later wins, unless the type
  /// declares a field for stamps.
  var keepsUnknownMembers: Bool { get }

  /// Whether the remote applies several changes together or not at all; see
  /// ``push(atomically:entities:)``.
  var appliesGroups: Bool { get }

  /// Returns the sink's limits for one batch.
  ///
  /// It is called before each push, so that it may query the remote.
  func limits() async throws(SyncError) -> SinkLimits

  /// Sends changes, each of another record, and returns their outcomes in the same order.
  ///
  /// - Parameters:
  ///   - changes: The changes to send.
  ///   - entities: The declarations of the types concerned.
  /// - Throws: If the outcome of every change is unknown. `remoteUnavailable` and `invalidResponse`
  ///   are retried, unaltered. `batchTooLarge` means that nothing was applied, and that a smaller
  ///   batch may be. `offline`, `authentication` and `cancelled` end the push; all changes stay
  ///   queued. Any other error, and the first two when they persist, may concern one of the
  ///   changes, which the engine then looks for: an outcome that names it costs fewer requests.
  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome]

  /// Sends the changes of a group, which may be of several types, and applies all or none of them.
  ///
  /// Readers of the remote see all of the changes or none.
  ///
  /// - Returns: For a group that was applied, ``PushOutcome/accepted(_:)`` or
  ///   ``PushOutcome/moved(_:)`` for each change. Otherwise the outcomes of those changes that
  ///   prevented it, and ``PushOutcome/notApplied`` for the others.
  /// - Throws: As ``push(_:entities:)``. A group is not split: `batchTooLarge` refuses it.
  func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome]
}

extension RemoteRecordSink {
  /// `false`: a record that comes back without its stamp would differ from what was sent.
  public var keepsUnknownMembers: Bool { false }

  /// `false`: each change is applied on its own.
  public var appliesGroups: Bool { false }

  /// Throws `invalidConfiguration`: a sink that applies groups declares it, and implements this.
  public func push(
    atomically changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    throw SyncError(
      .invalidConfiguration, during: "pushing a group of edits",
      "The sink of \(identity) applies each change on its own.")
  }

  /// Returns limits of a hundred changes and a megabyte.
  public func limits() async throws(SyncError) -> SinkLimits { SinkLimits() }
}
