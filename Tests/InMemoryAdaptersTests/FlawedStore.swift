import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

@testable import InMemoryAdapters

/// A store that breaks one promise, to test that the checks detect it.
final class FlawedStore: LocalStore {
  enum Flaw: String, CaseIterable, Sendable {
    case keepsWritesOfThrowingBody, ignoresFences, givesLeaseToAll, renewsLostLeases, givesUpWhenCancelled
    case forgetsDeletionsOfUnknownRecords, countsOwnReferences, showsWhatIsWithheld
    case countsUpToTheLimit
    case sortsKeysAsStrings, roundsIntegers, losesReasons, listsByOneKindOnly, marksNothing
    case mixesEmptyWithNil, clearsAllMarks, updatesNoVersions, seesPayloadsAlike, parksForever,
      movesOnUnderReads, showsUncommitted
    case losesWhatWasSent, keepsReplacedEdits, sendsEditsByRecord, countsAllEdits, losesBases
    case listsOldConflictsFirst, mixesConflictsOfTypes, forgetsYoungConflicts, comparesKeysAsTheyAreSpelled
    case findsOneRecordForEachKey, missesTheLastDuplicate, matchesNothingWithNothing
    case findsNamesByCharacters, countsPlacesByPortion, showsPendingDeletions
    case keepsGroupsTogether, findsWhatWaitsAlone, forgetsNewReferences, findsOneThatLeaves, forgetsAuthors
    case listsLiveRowsOnly, observesOneChange, neverAsksToReload

    /// The check that detects the flaw.
    var check: LocalStoreCheck {
      switch self {
      case .keepsWritesOfThrowingBody: .throwingBodyLeavesNothing
      case .ignoresFences: .lostLeaseCannotWrite
      case .givesLeaseToAll: .leaseHasOneHolder
      case .renewsLostLeases: .lostLeaseCannotBeRenewed
      case .givesUpWhenCancelled: .cancelledTaskCompletesItsWrite
      case .forgetsDeletionsOfUnknownRecords: .deletionOfUnknownRecordIsRemembered
      case .countsOwnReferences: .referencesByOthersAreTold
      case .showsWhatIsWithheld: .entriesShowNothing
      case .countsUpToTheLimit: .limitsAndPortions
      case .sortsKeysAsStrings: .keysCompareByBytes
      case .roundsIntegers: .equalComparesExactlyWithinAType
      case .losesReasons: .everyKindAndChangeComesBack
      case .listsByOneKindOnly: .kindsAreToldApartAndCounted
      case .marksNothing: .marksTellWhatAListingHeld
      case .mixesEmptyWithNil: .valuesComeBack
      case .clearsAllMarks: .marksTellWhatAListingHeld
      case .updatesNoVersions: .newVersionsKeepPayloads
      case .seesPayloadsAlike: .statesTellWhatAMergeNeeds
      case .parksForever: .parkedEntriesAreFoundByWhatTheyWaitFor
      case .movesOnUnderReads: .readSeesOneUnchangingState
      case .showsUncommitted: .readSeesNothingUncommitted
      case .losesWhatWasSent, .losesBases: .outboxEntriesComeBackWhole
      case .keepsReplacedEdits: .outboxEntryReplacesItsRecords
      case .sendsEditsByRecord: .outboxComesByStampInPortions
      case .countsAllEdits: .outboxIsCountedByType
      case .listsOldConflictsFirst, .mixesConflictsOfTypes: .conflictsAreNumberedNewestFirst
      case .forgetsYoungConflicts: .oldConflictsAreForgotten
      case .comparesKeysAsTheyAreSpelled: .naturalKeysAreNormalized
      case .findsOneRecordForEachKey: .recordsAreFoundByNaturalKey
      case .missesTheLastDuplicate: .duplicatesComeInByteOrderAndPortions
      case .countsPlacesByPortion: .duplicatesKeepTheirPlaces
      case .showsPendingDeletions: .pendingDeletionsMatchNothing
      case .findsWhatWaitsAlone: .entriesAreFoundByWhatTheyReferTo
      case .forgetsNewReferences: .changedReferencesHoldForAllEntries
      case .findsOneThatLeaves: .outboxEntriesAreFoundByWhatTheyLeave
      case .forgetsAuthors: .outboxEntriesComeBackWhole
      case .keepsGroupsTogether: .groupsAreReadAsTheyAre
      case .listsLiveRowsOnly: .rowsShowLiveAndDeletedRecords
      case .observesOneChange: .changesAreObserved
      case .neverAsksToReload: .manyChangesAreReloaded
      case .findsNamesByCharacters: .keysAreFoundByPrefix
      case .matchesNothingWithNothing: .nullsHaveNoNaturalKey
      }
    }
  }

  private let flaw: Flaw
  private let base: InMemoryStore
  private let uncommitted = UncommittedCopies()

  init(_ flaw: Flaw, identity: String, leaseClock: @escaping @Sendable () -> Timestamp) {
    self.flaw = flaw
    base = InMemoryStore(identity: identity, leaseClock: leaseClock)
  }

  func register(_ schema: SyncSchema) async throws(SyncError) { try await base.register(schema) }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    if flaw == .movesOnUnderReads || flaw == .showsUncommitted {
      return try body(UnsteadySnapshot(of: base, and: uncommitted, moves: flaw == .movesOnUnderReads))
    }
    // A flawed snapshot needs a transaction under it. The flaw does not change the data.
    return try await base.write(.app) { transaction throws(SyncError) in
      try body(FlawedTransaction(flaw: flaw, base: transaction))
    }
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    if flaw == .givesUpWhenCancelled && Task.isCancelled { throw SyncError(.cancelled, during: "writing") }
    let authority = flaw == .ignoresFences ? .app : authority
    let result = try await base.write(authority) { transaction throws(SyncError) in
      do throws(SyncError) {
        let flawed = FlawedTransaction(flaw: flaw, base: transaction, uncommitted: uncommitted)
        return Result<R, SyncError>.success(try body(flawed))
      } catch {
        guard flaw == .keepsWritesOfThrowingBody else { throw error }
        return .failure(error)
      }
    }
    return try result.get()
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    do throws(SyncError) {
      return try await base.acquireLease(for: duration)
    } catch {
      guard flaw == .givesLeaseToAll else { throw error }
      return Lease(fence: .max, expiresAt: Timestamp(milliseconds: 0))
    }
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    flaw == .renewsLostLeases ? lease : try await base.renew(lease, for: duration)
  }

  func release(_ lease: Lease) async throws(SyncError) { try await base.release(lease) }
}

/// The number of copies that the current transaction has put.
final class UncommittedCopies: Sendable {
  private let number = Mutex(0)
  var count: Int { number.withLock { $0 } }
  func add(_ copies: Int) { number.withLock { $0 += copies } }
}

/// A snapshot that counts uncommitted copies, or counts more on each query.
private final class UnsteadySnapshot: MemorySnapshot {
  private let store: InMemoryStore
  private let uncommitted: UncommittedCopies
  private let moves: Bool
  private var moved = 0

  init(of store: InMemoryStore, and uncommitted: UncommittedCopies, moves: Bool) {
    self.store = store
    self.uncommitted = uncommitted
    self.moves = moves
    super.init(identity: "unsteady", state: StoreState())
  }

  override func count(_ query: Query) throws(SyncError) -> Int {
    if moves { moved += 1 }
    return store.records(of: query.type).count + uncommitted.count + moved
  }
}
