import SyncCore
public import SyncModels

/// One way in which a merge policy resolved a conflict.
public struct PolicyDecision: Hashable, Sendable, CustomStringConvertible {
  /// The side that a resolution chose.
  public enum Side: String, Hashable, Sendable, CaseIterable {
    /// The local edit.
    case local
    /// The remote state.
    case remote
    /// A payload made of both.
    case merged
  }

  /// The type of the record.
  public var type: RecordType
  /// The side.
  public var side: Side
  /// The policy's reason.
  public var reason: String

  init(_ resolution: MergeResolution, of type: RecordType) {
    self.type = type
    (side, reason) =
      switch resolution {
      case .local(let reason): (.local, reason)
      case .remote(let reason): (.remote, reason)
      case .merged(_, let reason): (.merged, reason)
      }
  }

  /// The side and the reason.
  public var description: String { "\(side.rawValue) (\(reason))" }
}

/// The decisions that worlds must have seen of an app's own policy.
struct PolicyCoverage: Sendable {
  /// The reasons that must be given; none to require only both sides.
  var reasons: Set<String>

  /// What is missing, as a violation; `nil` if nothing is.
  func gap(in all: [PolicyDecision: Int], worlds: Int) -> Violation? {
    // Without the resolutions that the hazard of broken policies puts in place of the app's.
    let decisions = all.filter { $0.key.reason != BrokenPolicy.reason }
    let count = decisions.values.reduce(0, +)
    let missing = reasons.subtracting(decisions.keys.map(\.reason)).sorted()
    let words: String? =
      if count == 0 {
        "in \(Counted(worlds, "world")) no conflict reached the policy"
      } else if !missing.isEmpty {
        "in \(Counted(count, "resolution")) the policy never gave the reason \(missing.joined(separator: ", "))"
      } else if reasons.isEmpty, Set(decisions.keys.map(\.description)).count == 1,
        let only = decisions.keys.first
      {
        """
        in \(Counted(count, "resolution")) the policy's only decision was \(only): it may compare a member that the \
        worlds' records lack
        """
      } else {
        nil
      }
    return words.map { Violation(promise: .coverage, words: $0) }
  }
}
