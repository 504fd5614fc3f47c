import SyncModels

/// The outcome of one incoming change.
enum MergeOutcome: Hashable {
  case inserted, updated, deleted, unchanged, skippedOlder, skippedIncompatible, deferred, quarantined

  /// Whether the change is visible to readers.
  var isVisible: Bool {
    switch self {
    case .inserted, .updated, .deleted: true
    case .unchanged, .skippedOlder, .skippedIncompatible, .deferred, .quarantined: false
    }
  }

  /// Whether readers now see a record that they did not see before.
  var shows: Bool {
    switch self {
    case .inserted: true
    case .updated, .deleted, .unchanged, .skippedOlder, .skippedIncompatible, .deferred, .quarantined: false
    }
  }
}

extension SyncCounts {
  /// The count of an outcome.
  ///
  /// A key path would take longer than the counting of a record.
  subscript(outcome: MergeOutcome) -> Int {
    get {
      switch outcome {
      case .inserted: inserted
      case .updated: updated
      case .deleted: deleted
      case .unchanged: unchanged
      case .skippedOlder: skippedOlder
      case .skippedIncompatible: skippedIncompatible
      case .deferred: deferred
      case .quarantined: quarantined
      }
    }
    _modify {
      switch outcome {
      case .inserted: yield &inserted
      case .updated: yield &updated
      case .deleted: yield &deleted
      case .unchanged: yield &unchanged
      case .skippedOlder: yield &skippedOlder
      case .skippedIncompatible: yield &skippedIncompatible
      case .deferred: yield &deferred
      case .quarantined: yield &quarantined
      }
    }
  }
}
