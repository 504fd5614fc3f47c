import SyncModels
import SyncPorts

/// Notes what the engine of a process reports.
struct EventWatch: SyncObserver {
  let ledger: Ledger

  func receive(_ event: SyncEvent) {
    switch event {
    case .targetDeleted(_, let rule, _):
      switch rule {
      case .keepsTarget: break
      case .restoresTarget: ledger.saw(.targetRestored)
      case .clearsReference: ledger.saw(.referenceCleared)
      case .deletesReferrers: ledger.saw(.referrerDeleted)
      }
    case .immutableAssigned: ledger.saw(.fieldAssigned)
    default: break
    }
  }
}
