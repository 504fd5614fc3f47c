import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncConformance
import SyncMaintenance
import Synchronization

/// A salvage of a store in memory that breaks one promise, or none.
final class FlawedSalvage: SalvageSource {
  enum Flaw: CaseIterable, Sendable {
    case leavesTheLastOut, repeatsEntries, listsLosses, inventsEntries, readsNewestConflictsFirst
    case repeatsPlaces, goesBack, neverEnds, readsOnce, changesTheStore, hidesLosses, listsOtherLosses
    case changesWhatIsDamaged, isEmptyIfLost, forgetsBases, forgetsDeletions, decodesValues

    var check: SalvageCheck {
      switch self {
      case .leavesTheLastOut, .repeatsEntries, .listsLosses, .forgetsBases, .forgetsDeletions, .decodesValues:
        .soundStoreComesWhole
      case .inventsEntries: .emptyStoreHasNoEntries
      case .readsNewestConflictsFirst: .conflictsComeByTheirAge
      case .repeatsPlaces, .goesBack, .neverEnds: .placesLeadToAnEnd
      case .readsOnce: .laterWalkReadsTheSame
      case .changesTheStore: .storeStaysAsItIs
      case .hidesLosses, .listsOtherLosses: .missingEntriesAreListed
      case .changesWhatIsDamaged: .damagedStoreStaysAsItIs
      case .isEmptyIfLost: .lostStoreIsAnError
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
      open: { self.store }, close: { _ in }, makeSource: { self },
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
    if damage == .someRecords, case .records(let entity) = part {
      portion.entries = Array(portion.entries.dropFirst(3))
      if flaw != .hidesLosses {
        let part: SalvageLoss.Part = flaw == .listsOtherLosses ? .conflicts : .records
        portion.losses.append(SalvageLoss(part, "three records"))
      }
      // After the portion with the record was read.
      if flaw == .changesWhatIsDamaged, entity.type == "games" {
        let id = RecordID(type: "games", key: "g10")
        try await store.write(.app) { (transaction) throws(SyncError) in
          try transaction.delete([Tombstone(id: id, version: .unversioned)])
        }
      }
    }
    isLater = isLater && place == nil
    if portion.next == nil { state.withLock { _ = $0.walked.insert(part) } }
    switch flaw {
    case .leavesTheLastOut where portion.next == nil || place == nil: _ = portion.entries.popLast()
    case .repeatsEntries: portion.entries += portion.entries.suffix(1)
    case .listsLosses: portion.losses.append(SalvageLoss(.values, "nothing"))
    case .forgetsBases:
      portion.entries = portion.entries.map { entry in
        guard case .edit(var edit) = entry else { return entry }
        edit.base = .none
        return .edit(edit)
      }
    case .forgetsDeletions:
      portion.entries.removeAll { entry in
        if case .edit(let edit) = entry { edit.edit.content == .deletion } else { false }
      }
    case .decodesValues:
      portion.entries = portion.entries.map { entry in
        guard case .value(let key, let bytes) = entry else { return entry }
        return .value(key: key, bytes: Array(String(decoding: bytes, as: UTF8.self).utf8))
      }
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
