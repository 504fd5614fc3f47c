import SyncModels

/// Decides the outcome of a remote copy, by the store's state of the record.
///
/// This is replication, in the remote's order. A newer copy replaces an older one. A copy of equal
/// version with other bytes replaces too. An older copy is skipped. A copy or deletion without a
/// version is later than what is here. The rule is a pure function of
/// two versions and the equality of two payloads, so the order in which pages arrive does not
/// matter.
struct ReplicationRule {
  var order: SourceCapabilities.VersionOrder

  /// Returns the outcome of a copy.
  ///
  /// For `unchanged` with a newer version, only the version is written.
  func outcome(ofCopy version: Version, over stored: StoredState?) -> MergeOutcome {
    guard let stored else { return .inserted }
    guard isCurrent(version, over: stored) else { return .skippedOlder }
    if stored.isDeleted { return .inserted }
    return stored.hasSamePayload ? .unchanged : .updated
  }

  /// Returns the outcome of a deletion.
  ///
  /// It changes nothing if the record was never here or is deleted already.
  func outcome(of tombstone: Tombstone, over stored: StoredState?) -> MergeOutcome {
    guard let stored else { return .unchanged }
    guard isCurrent(tombstone.version, over: stored) else { return .skippedOlder }
    return stored.isDeleted ? .unchanged : .deleted
  }

  /// Whether the version of an unchanged copy need not be written.
  func restates(_ version: Version, _ stored: StoredState) -> Bool {
    order == .perScan || version == stored.version
  }

  /// Whether two copies of a record show one state of it, by their versions, whatever their bytes.
  ///
  /// Where versions do not number the changes, an equal one says nothing.
  func areOfOneState(_ a: Record, _ b: Record) -> Bool {
    order == .perChange && a.version == b.version && !a.version.isUndated
      && (a.entityTag == b.entityTag || a.entityTag == nil || b.entityTag == nil)
  }

  /// Whether a version is older than a withheld change of its record.
  func isOlder(_ version: Version, than entry: WithheldChange) -> Bool {
    if order == .latestFetched { return false }
    switch entry.change {
    case .upsert(let record): return version < record.version
    case .tombstone(let tombstone): return version < tombstone.version
    case .malformed: return false
    }
  }

  private func isCurrent(_ version: Version, over stored: StoredState) -> Bool {
    order == .latestFetched || version >= stored.version
      || version.isUndated && version.epoch >= stored.version.epoch
  }
}
