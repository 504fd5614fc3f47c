import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncConformance
import Synchronization

/// A store that verifies its format and breaks one promise, or none.
final class FlawedVerifiableStore: ForwardingStore, VerifiableStore {
  enum Flaw: CaseIterable, Sendable {
    case findsWhatIsSound, findsWhatIsWritten, changesTheStore, findsNothing, repairs, ignoresTheLimit
    case findsOneFewer, failsWhereItCannotRead, failsWhenCancelled

    var check: VerifiableStoreCheck {
      switch self {
      case .findsWhatIsSound: .soundStoreHasNoFindings
      case .findsWhatIsWritten: .storeInUseHasNoFindings
      case .changesTheStore: .checkingChangesNothing
      case .findsNothing, .repairs: .contradictionsAreFound
      case .ignoresTheLimit, .findsOneFewer: .limitIsKept
      case .failsWhereItCannotRead: .unreadablePartIsAFinding
      case .failsWhenCancelled: .cancelledCheckSaysSo
      }
    }
  }

  let base = InMemoryStore()
  private let flaw: Flaw?
  private let isDamaged = Atomic(false)
  private let isUnreadable = Atomic(false)

  init(_ flaw: Flaw?) { self.flaw = flaw }

  var harness: VerifiableStoreHarness {
    VerifiableStoreHarness(
      open: { self },
      damage: { _ in
        self.isDamaged.store(true, ordering: .relaxed)
        return self
      },
      destroy: { _ in
        self.isUnreadable.store(true, ordering: .relaxed)
        return self
      })
  }

  func formatFindings(limit: Int, isQuick: Bool) async throws(SyncError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if isDamaged.load(ordering: .relaxed) {
      findings = (1...3).map { StoreFinding(.rows, "contradiction \($0)") }
    }
    if isUnreadable.load(ordering: .relaxed) {
      guard flaw != .failsWhereItCannotRead else { throw SyncError(.storeUnreadable, during: "checking") }
      findings.append(StoreFinding(.rows, "the rows cannot be read"))
    }
    switch flaw {
    case .repairs: isDamaged.store(false, ordering: .relaxed)
    case .failsWhereItCannotRead: break
    case .failsWhenCancelled:
      if Task.isCancelled { throw SyncError(.storeFailure, during: "checking") }
    case .findsWhatIsSound: findings.append(StoreFinding(.rows, "nothing"))
    case .findsWhatIsWritten:
      let before = base.records(of: "teams")
      // Until a write has come, if there are any.
      _ = await Patience.lasts { base.records(of: "teams") != before }
      if base.records(of: "teams") != before { findings.append(StoreFinding(.rows, "changed")) }
    case .changesTheStore:
      try await base.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue([1], forKey: "checked")
      }
    case .findsNothing: return []
    case .ignoresTheLimit: return findings
    case .findsOneFewer: return Array(findings.prefix(max(1, limit - 1)))
    case nil: break
    }
    return Array(findings.prefix(limit))
  }
}
