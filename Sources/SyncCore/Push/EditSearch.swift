import SyncModels

/// Finds the edits that cause a batch to fail at the remote.
///
/// The remote is known to be there if it accepts some edits. The batch's first and last edit are
/// tried alone. If both fail, the remote is taken for unavailable, and the search ends. Otherwise
/// the batch is halved until the edits at fault are alone.
struct EditSearch {
  /// An edit that failed alone.
  struct Suspect: Sendable {
    /// The edit, or its atomic group.
    var batch: PushBatch
    var error: SyncError
  }

  /// The next step.
  enum Step: Hashable {
    /// Send these parts in the batch's place, one after another.
    case send([PushBatch])
    /// Isolate the edit, which is at fault.
    case isolate
    /// Try another edit, whose outcome shows whether this one is at fault.
    case tryAnother
    /// End the search: nothing shows that the remote is there.
    case giveUp
  }

  /// Edits that failed alone since the remote last accepted an edit.
  private(set) var suspects: [Suspect] = []
  private var isRemoteThere = false
  private var failedInARow = 0

  // Two edits at fault may be neighbours. A remote that went away meanwhile fails at all edits.
  private static let limit = 2

  /// Records that the remote failed at a part.
  mutating func failed(_ batch: PushBatch, _ error: SyncError) -> Step {
    let part = batch.entries
    guard let first = part.first, let last = part.last else { return .giveUp }
    if batch.units > 1 {
      let middle = part.count / 2
      let parts =
        isRemoteThere
        ? [Array(part[..<middle]), Array(part[middle...])]
        : [[first], [last], Array(part[1..<(part.count - 1)])]
      return .send(parts.filter { !$0.isEmpty }.map { PushBatch($0) })
    }
    failedInARow += 1
    if isRemoteThere, failedInARow <= Self.limit { return .isolate }
    isRemoteThere = false
    suspects.append(Suspect(batch: batch, error: error))
    return suspects.count < Self.limit ? .tryAnother : .giveUp
  }

  /// Records that the remote accepted a part.
  ///
  /// - Returns: The edits that failed alone before, for another attempt.
  mutating func answered() -> [Suspect] {
    defer { suspects = [] }
    isRemoteThere = true
    failedInARow = 0
    return suspects
  }
}

extension SyncError {
  /// Whether one of a number of edits may have caused a push to fail.
  ///
  /// Permissions usually concern a whole type.
  func mayBeAboutOne(of count: Int) -> Bool {
    return isAboutEdits || code == .remoteUnavailable || code == .permissionDenied && count > 1
  }

  /// Whether the failure concerns the content that was sent.
  var isAboutEdits: Bool {
    let codes: [Code] = [
      .invalidResponse, .invalidConfiguration, .invalidEdit, .inconsistentData, .tokenExpired,
      .pullIncomplete,
    ]
    return codes.contains(code)
  }
}
