public import SyncModels

/// A place that local edits are sent to, a batch at a time.
///
/// For whoever implements it: apply each change of a batch on its own, or tell why not; queueing, splitting, retrying, order and conflicts
/// are the engine's. A change is applied only if the record at the remote is what the change was made on. One that
/// comes again under the same ``OutgoingChange/key`` has one effect: a remote that remembers keys answers as it did, and for one that
/// does not, finding the very content there already, on top of that base, is the acknowledgement.
public protocol RemoteRecordSink: Sendable {
  /// Which remote this is; the same as that of the source that reads it back.
  var identity: String { get }

  /// Whether the remote keeps members of a payload that nobody declared, and gives them back as they were sent.
  ///
  /// Where it does, edits are stamped in a member of the library's own, ``FieldName/editStamp``, and the later edit wins. Where it does not, the one that arrives
  /// later does, unless the type declares a field for stamps.
  var keepsUnknownMembers: Bool { get }

  /// How much the sink takes at once. Asked before each push, so that the remote itself may be asked.
  func limits() async throws(SyncError) -> SinkLimits

  /// Sends changes, each of another record, and returns one outcome for each, at its place.
  ///
  /// - Parameter entities: The declarations of the types concerned.
  /// - Throws: When nothing is known of any change: `remoteUnavailable` and `invalidResponse` are tried again, unaltered;
  ///   `batchTooLarge` means that nothing was applied, and that less may be. `offline`, `authentication` and `cancelled` end the push; all
  ///   changes stay queued. Any other, and the first two when they persist, may be about one of the changes, which the engine then looks for: an outcome that
  ///   names it costs fewer requests.
  func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome]
}

extension RemoteRecordSink {
  /// No: what is stamped and comes back without its stamp would differ from what was sent.
  public var keepsUnknownMembers: Bool { false }

  /// A hundred changes of a megabyte together.
  public func limits() async throws(SyncError) -> SinkLimits { SinkLimits() }
}
