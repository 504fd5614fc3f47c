import SyncCore
import SyncModels

/// A policy that makes something of a clash now and then that no store can show: bytes that are no JSON, or a reference to nothing.
struct BrokenPolicy: MergePolicy {
  var base: any MergePolicy
  var ledger: Ledger

  func settle(_ clash: Clash) -> Verdict {
    guard clash.local.content != nil, clash.remote.content != nil else { return base.settle(clash) }
    // The same on every replica, and from either side.
    let time = max(clash.local.stamp.physical, clash.remote.stamp.physical).microseconds
    switch UInt64(bitPattern: time) % 4 {
    case 0:
      ledger.saw(.policyBroken)
      return .merged(Payload(Array("{broken".utf8)), reason: "it is broken")
    case 1 where clash.id.type == "games":
      ledger.saw(.policyBroken)
      let payload = #"{"id":"\#(clash.id.key)","name":7,"home":"t99","away":null}"#
      return .merged(Payload(Array(payload.utf8)), reason: "it is broken")
    default: return base.settle(clash)
    }
  }
}
