import SyncModels

/// Finds the edits that a remote fails at, among those of a batch that it failed at.
///
/// That the remote is there at all shows in what it takes. The batch's first and last edit are tried alone: where it fails at both, it is the
/// remote that is away, and no edit is looked for. Otherwise the batch is halved until the edits at fault are alone.
struct EditSearch {
  /// An edit that failed alone.
  struct Suspect: Sendable {
    var entry: OutboxEntry
    var error: SyncError
  }

  /// What is to be done next.
  enum Step: Hashable {
    /// These parts are sent in the batch's place, one after another.
    case send([[OutboxEntry]])
    /// The edit is at fault.
    case isolate(OutboxEntry)
    /// The edit may be at fault: what becomes of others tells.
    case tryAnother
    /// Nothing shows that the remote is there.
    case giveUp
  }

  /// Edits that failed alone since the remote last took anything.
  private(set) var suspects: [Suspect] = []
  private var isRemoteThere = false
  private var failedInARow = 0

  // One edit at fault may come after another. A remote that has gone meanwhile fails at all of them.
  private static let limit = 2

  /// The remote failed at a part.
  mutating func failed(_ part: [OutboxEntry], _ error: SyncError) -> Step {
    guard let first = part.first, let last = part.last else { return .giveUp }
    if part.count > 1 {
      let middle = part.count / 2
      return .send(
        isRemoteThere
          ? [Array(part[..<middle]), Array(part[middle...])]
          : [[first], [last], Array(part[1..<(part.count - 1)])].filter { !$0.isEmpty })
    }
    failedInARow += 1
    if isRemoteThere, failedInARow <= Self.limit { return .isolate(first) }
    isRemoteThere = false
    suspects.append(Suspect(entry: first, error: error))
    return suspects.count < Self.limit ? .tryAnother : .giveUp
  }

  /// The remote took a part. Returns the edits that failed alone before, for another attempt.
  mutating func answered() -> [Suspect] {
    defer { suspects = [] }
    isRemoteThere = true
    failedInARow = 0
    return suspects
  }
}

extension SyncError {
  /// Whether a push of so many edits may have failed because of one of them.
  ///
  /// Permissions are mostly a whole type's.
  func mayBeAboutOne(of count: Int) -> Bool {
    #if MUTANTS
      if Mutant.poisonEditStopsOthers.isActive { return false }
    #endif
    return isAboutEdits || code == .remoteUnavailable || code == .permissionDenied && count > 1
  }

  /// Whether a push that fails with it reached the remote, or would have: what is wrong is what was sent.
  var isAboutEdits: Bool {
    let codes: [Code] = [
      .invalidResponse, .invalidConfiguration, .invalidEdit, .inconsistentData, .tokenExpired,
      .pullIncomplete,
    ]
    return codes.contains(code)
  }
}
