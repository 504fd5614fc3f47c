import SyncJSON
import SyncModels

/// A policy's resolution of a conflict, checked, and the conflict for the log.
struct PolicyDecision {
  /// The resolution; the remote's side instead of an invalid one.
  var resolution: MergeResolution
  /// The conflict with its winner.
  var conflict: Conflict
  /// Why the policy's resolution is invalid; `nil` if it is valid.
  var flaw: String?

  /// Asks a policy.
  ///
  /// - Parameters:
  ///   - base: The payload that both sides started from.
  ///   - local: The edit.
  ///   - lastWrite: When the edit's content was written.
  ///   - remoteStamp: When the remote state was written, as far as that is trusted.
  ///   - flaw: Why the policy's resolution is invalid, if that is known.
  init(
    by policy: any MergePolicy, _ entity: Entity, _ id: RecordID, base: Payload?, local: Edit,
    lastWrite: EditStamp, _ remoteState: RemoteState, remoteStamp: EditStamp, at now: Timestamp,
    flaw: String? = nil
  ) {
    // Policies do not merge the edit stamp: the result gets a new stamp.
    resolution = policy.settle(
      MergeConflict(
        id: id, base: base?.withoutEditStamp,
        local: StampedValue(local.content.payload?.withoutEditStamp, stamp: lastWrite),
        remote: StampedValue(remoteState.payload?.withoutEditStamp, stamp: remoteStamp)))
    self.flaw = flaw ?? entity.flaw(in: resolution)
    if let flaw = self.flaw {
      resolution = .remote(reason: "the policy's resolution is invalid: it \(flaw)")
    }
    let (winner, reason): (Conflict.Winner, String) =
      switch resolution {
      case .remote(let reason): (.remote, reason)
      case .local(let reason): (.local, reason)
      case .merged(_, let reason): (.merged, reason)
      }
    conflict = Conflict(
      id: id, settledAt: now, local: local, remote: remoteState.change, remoteStamp: remoteStamp, base: base,
      winner: winner, reason: reason)
  }
}

extension Entity {
  /// Returns why a resolution is not a valid record; `nil` if it is.
  fileprivate func flaw(in resolution: MergeResolution) -> String? {
    guard case .merged(let payload, _) = resolution else { return nil }
    do throws(JSONError) {
      _ = try FieldMap(payload)
      guard let version = try schemaVersion(of: payload) else { return "names no schema" }
      if version <= schemaVersion { return nil }
      return "has the schema \(version), and the app understands up to \(schemaVersion)"
    } catch {
      return "is not one JSON object: \(error)"
    }
  }
}
