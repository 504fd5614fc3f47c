import CanonicalSync
import InMemoryAdapters
import SyncConformance
import Synchronization

/// A store that verifies its format and breaks one promise, or none.
final class FlawedVerification: ForwardingStore, VerifiableStore {
  enum Flaw: CaseIterable, Sendable {
    case findsWhatIsSound, findsWhatIsWritten, changesTheStore, findsNothing, ignoresTheLimit, findsOneFewer

    var check: VerificationCheck {
      switch self {
      case .findsWhatIsSound: .soundStoreHasNoFindings
      case .findsWhatIsWritten: .storeInUseHasNoFindings
      case .changesTheStore: .checkingChangesNothing
      case .findsNothing: .contradictionsAreFound
      case .ignoresTheLimit, .findsOneFewer: .limitIsKept
      }
    }
  }

  let base = InMemoryStore()
  private let flaw: Flaw?
  private let isDamaged = Atomic(false)

  init(_ flaw: Flaw?) { self.flaw = flaw }

  var harness: VerificationHarness {
    VerificationHarness(
      open: { self },
      damage: { _ in
        self.isDamaged.store(true, ordering: .relaxed)
        return self
      })
  }

  func formatFindings(limit: Int) async throws(SyncError) -> [StoreFinding] {
    var findings: [StoreFinding] = []
    if isDamaged.load(ordering: .relaxed) {
      findings = (1...3).map { StoreFinding(.rows, "contradiction \($0)") }
    }
    switch flaw {
    case .findsWhatIsSound: findings.append(StoreFinding(.rows, "nothing"))
    case .findsWhatIsWritten:
      let before = base.records(of: "teams")
      // Until a write has come, if there are any.
      for _ in 0..<2000 where base.records(of: "teams") == before { await Task.yield() }
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
