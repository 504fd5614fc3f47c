import SyncCore
import SyncModels

/// A policy wrapper that checks for equal resolutions.
///
/// Each merge conflict must have one resolution, on repetition and from either side.
struct WatchedPolicy: MergePolicy {
  var base: any MergePolicy
  /// Whether the policy ignores which of two edits is the local one.
  var treatsSidesAlike: Bool
  var ledger: Ledger

  func settle(_ conflict: MergeConflict) -> MergeResolution {
    let resolution = base.settle(conflict)
    ledger.settled(PolicyDecision(resolution, of: conflict.id.type))
    if conflict.local.stamp.physical == conflict.remote.stamp.physical { ledger.saw(.stampsTied) }
    if base.settle(conflict) != resolution {
      ledger.report(
        .arithmetic, "one conflict over \(conflict.id) is settled in two ways", about: [conflict.id])
    }
    guard treatsSidesAlike else { return resolution }
    var mirrored = conflict
    (mirrored.local, mirrored.remote) = (conflict.remote, conflict.local)
    let reverse = base.settle(mirrored)
    // What the other device says puts a branch to the test as well.
    ledger.settled(PolicyDecision(reverse, of: conflict.id.type))
    let theirs = Self.content(reverse, of: mirrored)
    let ours = Self.content(resolution, of: conflict)
    let isSame =
      switch (ours, theirs) {
      case (nil, nil): true
      case (let ours?, let theirs?): ours.hasSameMembers(as: theirs)
      default: false
      }
    if !isSame {
      let decisions = [resolution, reverse].map { PolicyDecision($0, of: conflict.id.type).description }
      ledger.report(
        .arithmetic,
        """
        two replicas settle a conflict over \(conflict.id) each in its own way: between \
        \(Self.words(conflict.local)) and \(Self.words(conflict.remote)) one says \(decisions[0]), and the other, \
        whose local side is the second, \(decisions[1])
        """, about: [conflict.id])
    }
    return resolution
  }

  private static func words(_ side: StampedValue) -> String {
    let content = side.content.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "a deletion"
    return "\(content) of \(side.stamp)"
  }

  private static func content(_ resolution: MergeResolution, of conflict: MergeConflict) -> Payload? {
    switch resolution {
    case .local: conflict.local.content
    case .remote: conflict.remote.content
    case .merged(let payload, _): payload
    }
  }
}

/// A policy whose resolution is sometimes impossible to show.
///
/// It is invalid JSON, or refers to a missing record.
struct BrokenPolicy: MergePolicy {
  static let reason = "it is broken"

  var base: any MergePolicy
  var ledger: Ledger

  func settle(_ conflict: MergeConflict) -> MergeResolution {
    guard conflict.local.content != nil, conflict.remote.content != nil else { return base.settle(conflict) }
    // The same on every replica, and from either side.
    let time = max(conflict.local.stamp.physical, conflict.remote.stamp.physical).microseconds
    switch UInt64(bitPattern: time) % 4 {
    case 0:
      ledger.saw(.policyBroken)
      return .merged(Payload(Array("{broken".utf8)), reason: Self.reason)
    case 1 where conflict.id.type == "games":
      ledger.saw(.policyBroken)
      let payload = #"{"id":"\#(conflict.id.key)","name":7,"home":"t99","away":null}"#
      return .merged(Payload(Array(payload.utf8)), reason: Self.reason)
    default: return base.settle(conflict)
    }
  }
}
