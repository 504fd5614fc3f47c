import CanonicalSync
import InMemoryAdapters
import SyncConformance
import Synchronization

/// A salvage of a store in memory that breaks one promise, or none.
final class FlawedSalvage: SalvageSource {
  enum Flaw: CaseIterable, Sendable {
    case leavesTheLastOut, repeatsEntries, listsLosses, inventsEntries, readsNewestConflictsFirst
    case repeatsPlaces, goesBack, neverEnds, readsOnce, changesTheStore, hidesLosses, isEmptyIfLost

    var check: SalvageCheck {
      switch self {
      case .leavesTheLastOut, .repeatsEntries, .listsLosses: .soundStoreComesWhole
      case .inventsEntries: .emptyStoreHasNoEntries
      case .readsNewestConflictsFirst: .conflictsComeByTheirAge
      case .repeatsPlaces, .goesBack, .neverEnds: .placesLeadToAnEnd
      case .readsOnce: .laterWalkReadsTheSame
      case .changesTheStore: .storeStaysAsItIs
      case .hidesLosses: .whatIsMissingIsListed
      case .isEmptyIfLost: .lostStoreIsTold
      }
    }
  }

  enum Damage: Sendable { case none, someRecords, everything }

  let store = InMemoryStore()
  private let flaw: Flaw?
  private let state = Mutex(State())

  private struct State {
    var damage = Damage.none
    var walked: Set<SalvagePart> = []
    var hasRepeated = false
  }

  init(_ flaw: Flaw?) { self.flaw = flaw }

  var harness: SalvageHarness {
    SalvageHarness(
      open: { self.store }, close: { _ in }, source: { self },
      damage: { self.state.withLock { $0.damage = .someRecords } },
      destroy: { self.state.withLock { $0.damage = .everything } })
  }

  func portion(
    of part: SalvagePart, after place: SalvagePlace?
  ) async throws(SyncError) -> SalvagePortion {
    var (damage, isLater) = state.withLock { ($0.damage, $0.walked.contains(part)) }
    if damage == .everything {
      if flaw == .isEmptyIfLost { return SalvagePortion() }
      throw SyncError(.storeUnreadable, during: "salvaging")
    }
    if flaw == .readsNewestConflictsFirst, part == .conflicts {
      return try await store.read { (snapshot) throws(SyncError) in
        SalvagePortion(try snapshot.conflicts(nil, before: nil, limit: 10_000).map { .conflict($0) })
      }
    }
    var portion = try await PortSalvage(store).portion(of: part, after: place)
    if damage == .someRecords, case .records = part {
      portion.entries = Array(portion.entries.dropFirst(3))
      if flaw != .hidesLosses { portion.losses.append(SalvageLoss(.records, "three records")) }
    }
    isLater = isLater && place == nil
    if portion.next == nil { state.withLock { _ = $0.walked.insert(part) } }
    switch flaw {
    case .leavesTheLastOut where portion.next == nil || place == nil: _ = portion.entries.popLast()
    case .repeatsEntries: portion.entries += portion.entries.suffix(1)
    case .listsLosses: portion.losses.append(SalvageLoss(.values, "nothing"))
    case .inventsEntries where part == .values: portion.entries.append(.value(key: "k", bytes: [1]))
    case .repeatsPlaces where place != nil:
      let repeats = state.withLock { state in
        defer { state.hasRepeated = true }
        return !state.hasRepeated
      }
      if repeats { portion = SalvagePortion(next: place) }
    case .goesBack where part == .conflicts && portion.next != nil:
      // The last place of the walk is before the others.
      if portion.entries.isEmpty || place == .row(1) {
        portion = SalvagePortion()
      } else if place != nil {
        portion.next = .row(1)
      }
    case .neverEnds where part == .values && portion.next == nil:
      portion.next = .key("", "\(state.withLock { $0.walked.count })")
    case .readsOnce where isLater: portion = SalvagePortion()
    case .changesTheStore where part == .values && place == nil:
      try await store.write(.app) { (transaction) throws(SyncError) in
        try transaction.setValue([1], forKey: "salvaged")
      }
    default: break
    }
    return portion
  }
}
