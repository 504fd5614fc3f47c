public import SyncModels

/// Settles an edit that met another one at the remote.
///
/// A pure function of the clash: the same on every replica, whatever the order in which things arrive.
public protocol MergePolicy: Sendable {
  /// Whose word stands.
  func settle(_ conflict: MergeConflict) -> MergeResolution
}

/// A pending local edit and what somebody else made of the record at the remote meanwhile.
public struct MergeConflict: Hashable, Sendable {
  /// The record.
  public var id: RecordID
  /// The payload that both started from; `nil` where there was none.
  public var base: Payload?
  /// The local edit; a deletion has no content.
  public var local: StampedValue
  /// What the remote has; a deletion has no content.
  public var remote: StampedValue

  /// Describes a clash.
  public init(id: RecordID, base: Payload?, local: StampedValue, remote: StampedValue) {
    self.id = id
    self.base = base
    self.local = local
    self.remote = remote
  }
}

/// How a clash ends, with the reason for a person; record contents stay out of it.
public enum MergeResolution: Hashable, Sendable {
  /// The local edit is pushed on top of the remote's.
  case local(reason: String)
  /// The local edit is given up, and kept in the log of conflicts.
  case remote(reason: String)
  /// A payload made of both is pushed.
  case merged(Payload, reason: String)
}

/// The later write wins, whole: the default.
public struct LastWriteWins: MergePolicy {
  /// Compares whole records.
  public init() {}

  /// Gives the word to the later write.
  public func settle(_ conflict: MergeConflict) -> MergeResolution {
    conflict.local.merged(with: conflict.remote) == conflict.local
      ? .local(reason: "the local edit was written last")
      : .remote(reason: "the remote's was written last")
  }
}

/// The remote's word always stands.
public struct ServerWins: MergePolicy {
  /// Gives up local edits that meet another one.
  public init() {}

  /// Gives the word to the remote.
  public func settle(_ conflict: MergeConflict) -> MergeResolution {
    .remote(reason: "the remote's state always stands")
  }
}

/// Fields that one side alone changed keep that side's value; of those that both changed, the later write's wins.
///
/// A merge of three: what changed is told by the payload that both started from; without one, every field that differs counts as changed by both. A
/// deletion and an edit are settled whole, by the later write.
public struct FieldwiseLastWriteWins: MergePolicy {
  /// Compares field by field.
  public init() {}

  /// Merges the fields.
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
