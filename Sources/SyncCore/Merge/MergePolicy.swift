public import SyncModels

/// Resolves a merge conflict between a local edit and a remote state.
///
/// A pure function of the conflict: the same on every replica, whatever the order in which things
/// arrive.
public protocol MergePolicy: Sendable {
  /// Returns the resolution of a conflict.
  ///
  /// It is called inside a transaction of the store, perhaps several times. Do not wait there, and
  /// keep other effects out. A merged payload must be one JSON object of a schema that the app
  /// understands. It may refer to records in the store, and to those that the remote's copy refers
  /// to. The event `policyFailed` reports any other, and the remote's copy wins.
  func settle(_ conflict: MergeConflict) -> MergeResolution
}

/// A pending local edit and a different remote state of the record.
public struct MergeConflict: Hashable, Sendable {
  /// The record.
  public var id: RecordID
  /// The payload from which both sides started; `nil` if there was none.
  public var base: Payload?
  /// The local edit; a deletion has no content.
  public var local: StampedValue
  /// The remote state; a deletion has no content.
  public var remote: StampedValue

  /// Creates a merge conflict.
  public init(id: RecordID, base: Payload?, local: StampedValue, remote: StampedValue) {
    self.id = id
    self.base = base
    self.local = local
    self.remote = remote
  }
}

/// The resolution of a merge conflict, with a reason for a person.
///
/// The reason leaves record contents out.
public enum MergeResolution: Hashable, Sendable {
  /// The local edit is pushed on top of the remote state.
  case local(reason: String)
  /// The local edit is discarded, and kept in the log of conflicts.
  case remote(reason: String)
  /// A payload made of both is pushed.
  case merged(Payload, reason: String)
}

/// A policy by which the later write wins, whole: the default.
public struct LastWriteWins: MergePolicy {
  /// Creates the policy.
  public init() {}

  /// Resolves a conflict in favour of the later write.
  public func settle(_ conflict: MergeConflict) -> MergeResolution {
    conflict.local.merged(with: conflict.remote) == conflict.local
      ? .local(reason: "the local edit was written last")
      : .remote(reason: "the remote state was written last")
  }
}

/// A policy by which the remote state always wins.
public struct ServerWins: MergePolicy {
  /// Creates the policy.
  public init() {}

  /// Resolves a conflict in favour of the remote state.
  public func settle(_ conflict: MergeConflict) -> MergeResolution {
    .remote(reason: "the remote state always wins")
  }
}

/// A policy that merges field by field.
///
/// A field that one side alone changed keeps that side's value. A field that both changed takes the
/// later write's value. It is a three-way merge: the base payload shows what changed. Without a
/// base, every field that differs counts as changed by both. A deletion and an edit are resolved
/// whole, by the later write.
public struct FieldwiseLastWriteWins: MergePolicy {
  /// Creates the policy.
  public init() {}

  /// Resolves a conflict by merging the fields.
  public func settle(_ conflict: MergeConflict) -> MergeResolution {
    guard let local = conflict.local.content, let remote = conflict.remote.content,
      let ours = try? FieldMap(local), let theirs = try? FieldMap(remote)
    else { return LastWriteWins().settle(conflict) }
    let base = conflict.base.flatMap { try? FieldMap($0) }
    let isLocalLater = conflict.local.merged(with: conflict.remote) == conflict.local
    var merged = theirs
    var lost = (local: 0, remote: 0)
    for field in ours.fields + theirs.fields.filter({ ours[$0] == nil })
    where !ours.hasSameValue(as: theirs, for: field) {
      let didWeChange = base.map { !ours.hasSameValue(as: $0, for: field) } ?? true
      let didTheyChange = base.map { !theirs.hasSameValue(as: $0, for: field) } ?? true
      if didWeChange && (!didTheyChange || isLocalLater) {
        merged[field] = ours[field]
        if didTheyChange { lost.remote += 1 }
      } else if didWeChange {
        lost.local += 1
      }
    }
    return .merged(
      merged.payload,
      reason: lost == (0, 0)
        ? "each side changed other fields"
        : "of the fields that both changed, \(lost.remote) went to the local edit and \(lost.local) to the remote's"
    )
  }
}

/// A written value and its stamp: the operand of last-write-wins arithmetic.
///
/// Of two writes the later one wins. Of simultaneous writes the greater content wins; one replica
/// can only make these by copying itself. So ``merged(with:)`` is commutative, associative and
/// idempotent, and every replica gets the same result.
public struct StampedValue: Hashable, Sendable {
  /// The payload; `nil` for a deletion.
  public var content: Payload?
  /// When it was written.
  public var stamp: EditStamp

  /// Creates a stamped value.
  public init(_ content: Payload?, stamp: EditStamp) {
    self.content = content
    self.stamp = stamp
  }

  /// Returns the write that wins.
  public func merged(with other: StampedValue) -> StampedValue {
    precedes(other) ? other : self
  }

  private func precedes(_ other: StampedValue) -> Bool {
    if stamp != other.stamp { return stamp < other.stamp }
    guard let theirs = other.content else { return false }
    guard let ours = content else { return true }
    return ours.bytes.lexicographicallyPrecedes(theirs.bytes)
  }
}
