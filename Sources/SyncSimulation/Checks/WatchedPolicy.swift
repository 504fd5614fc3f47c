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
    if conflict.local.stamp.physical == conflict.remote.stamp.physical { ledger.saw(.stampsTied) }
    if base.settle(conflict) != resolution {
      ledger.report(.arithmetic, "one conflict over \(conflict.id) is settled in two ways")
    }
    guard treatsSidesAlike else { return resolution }
    var mirrored = conflict
    (mirrored.local, mirrored.remote) = (conflict.remote, conflict.local)
    let theirs = Self.content(base.settle(mirrored), of: mirrored)
    let ours = Self.content(resolution, of: conflict)
    let isSame =
      switch (ours, theirs) {
      case (nil, nil): true
      case (let ours?, let theirs?): ours.hasSameMembers(as: theirs)
      default: false
      }
    if !isSame {
      ledger.report(.arithmetic, "two replicas settle a conflict over \(conflict.id) each in its own way")
    }
    return resolution
  }

  private static func content(_ resolution: MergeResolution, of conflict: MergeConflict) -> Payload? {
    switch resolution {
    case .local: conflict.local.content
    case .remote: conflict.remote.content
    case .merged(let payload, _): payload
    }
  }
}
