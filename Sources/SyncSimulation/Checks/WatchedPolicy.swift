import SyncCore
import SyncModels

/// A policy that has to settle each clash in one way, however often it is asked, and from whichever side.
struct WatchedPolicy: MergePolicy {
  var base: any MergePolicy
  /// Whether it does not matter to the policy which of two edits is the local one.
  var treatsSidesAlike: Bool
  var ledger: Ledger

  func settle(_ clash: Clash) -> Verdict {
    let verdict = base.settle(clash)
    if clash.local.stamp.physical == clash.remote.stamp.physical { ledger.saw(.stampsTied) }
    if base.settle(clash) != verdict {
      ledger.report(.arithmetic, "one clash over \(clash.id) is settled in two ways")
    }
    guard treatsSidesAlike else { return verdict }
    var mirrored = clash
    (mirrored.local, mirrored.remote) = (clash.remote, clash.local)
    let theirs = Self.content(base.settle(mirrored), of: mirrored)
    let ours = Self.content(verdict, of: clash)
    let isSame =
      switch (ours, theirs) {
      case (nil, nil): true
      case (let ours?, let theirs?): ours.hasSameMembers(as: theirs)
      default: false
      }
    if !isSame {
      ledger.report(.arithmetic, "two replicas settle a clash over \(clash.id) each in its own way")
    }
    return verdict
  }

  private static func content(_ verdict: Verdict, of clash: Clash) -> Payload? {
    switch verdict {
    case .local: clash.local.content
    case .remote: clash.remote.content
    case .merged(let payload, _): payload
    }
  }
}
