import SyncModels

/// The reason why the pass over one type cannot go on.
enum PullFailure: Hashable {
  /// The remote failed, permanently or past the budget.
  case remote(SyncError)
  /// The remote keeps answering with the same continuation.
  case stuck
  /// The remote keeps starting over.
  case resetsWithoutEnd(ResetReason)

  static func == (a: PullFailure, b: PullFailure) -> Bool {
    switch (a, b) {
    case (.remote(let a), .remote(let b)): a.code == b.code && a.operation == b.operation
    case (.stuck, .stuck): true
    case (.resetsWithoutEnd(let a), .resetsWithoutEnd(let b)): a == b
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .remote(let error): hasher.combine(error.code)
    case .stuck: hasher.combine(0)
    case .resetsWithoutEnd(let reason): hasher.combine(reason)
    }
  }

  /// Returns the failure as an error for the caller.
  func error(type: RecordType) -> SyncError {
    switch self {
    case .remote(let error): error
    case .stuck:
      SyncError(
        .inconsistentData, during: "pulling \(type)",
        "The remote keeps answering with the same continuation, so the listing would never end.")
    case .resetsWithoutEnd(let reason):
      SyncError(
        .inconsistentData, during: "pulling \(type)",
        "The remote keeps starting its listing over (\(reason.rawValue)); try again when it is quiet.")
    }
  }
}
