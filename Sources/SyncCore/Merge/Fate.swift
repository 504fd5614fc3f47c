import SyncModels

/// What becomes of one incoming change.
enum Fate: Hashable {
  case inserted, updated, deleted, unchanged, skippedOlder, skippedIncompatible, deferred, quarantined

  /// The number that counts it.
  var count: WritableKeyPath<SyncCounts, Int> {
    switch self {
    case .inserted: \.inserted
    case .updated: \.updated
    case .deleted: \.deleted
    case .unchanged: \.unchanged
    case .skippedOlder: \.skippedOlder
    case .skippedIncompatible: \.skippedIncompatible
    case .deferred: \.deferred
    case .quarantined: \.quarantined
    }
  }

  /// Whether readers see a difference.
  var isVisible: Bool {
    switch self {
    case .inserted, .updated, .deleted: true
    case .unchanged, .skippedOlder, .skippedIncompatible, .deferred, .quarantined: false
    }
  }
}

/// Decides what becomes of a remote copy, by what the store has of the record: replication, in the remote's order.
///
/// A newer copy replaces an older; one of equal version with other bytes replaces too; an older one is passed over. The rule is a pure function
/// of two versions and two payloads' equality, so the order in which pages arrive does not matter.
struct ReplicationRule {
  var order: SourceCapabilities.VersionOrder

  /// What becomes of a copy. `unchanged` with a newer version means that the version alone is written.
  func fate(ofCopy version: Version, over stored: StoredState?) -> Fate {
    guard let stored else { return .inserted }
    #if MUTANTS
      if Mutant.copyUnchecked.isActive { return stored.isDeleted ? .inserted : .updated }
    #endif
    guard isCurrent(version, over: stored) else { return .skippedOlder }
    if stored.isDeleted { return .inserted }
    return stored.hasSamePayload ? .unchanged : .updated
  }

  /// What becomes of a deletion; one of a record that was never here, or is deleted already, changes nothing.
  func fate(of tombstone: Tombstone, over stored: StoredState?) -> Fate {
    guard let stored else { return .unchanged }
    #if MUTANTS
      if Mutant.tombstoneUnchecked.isActive { return stored.isDeleted ? .unchanged : .deleted }
    #endif
    guard isCurrent(tombstone.version, over: stored) else { return .skippedOlder }
    return stored.isDeleted ? .unchanged : .deleted
  }

  /// Whether an unchanged copy's version is worth writing down.
  func restates(_ version: Version, _ stored: StoredState) -> Bool {
    order == .perScan || version == stored.version
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
  }
}
