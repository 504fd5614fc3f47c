import SyncCore
import SyncModels

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
