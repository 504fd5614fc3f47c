import SyncConformance
import SyncModels
import SyncPorts
import Synchronization

@testable import InMemoryAdapters

/// A store that breaks one promise, to test that the checks detect it.
final class FlawedStore: LocalStore {
  /// The lease that was acquired last, and the calls before it.
  private struct State {
    var lease: Lease?
    var isHeld = false
    var isRegistered = false
    /// The number of calls for a lease.
    var askers = 0
  }

  private let flaw: Flaw
  private let base: InMemoryStore
  private let leaseClock: @Sendable () -> Timestamp
  private let uncommitted = UncommittedCopies()
  private let state = Mutex(State())

  init(_ flaw: Flaw, identity: String, leaseClock: @escaping @Sendable () -> Timestamp) {
    self.flaw = flaw
    self.leaseClock = leaseClock
    base = InMemoryStore(identity: identity, leaseClock: leaseClock)
  }

  func register(_ schema: SyncSchema) async throws(SyncError) {
    let isRegistered = state.withLock { state in
      defer { state.isRegistered = true }
      return state.isRegistered
    }
    guard isRegistered else { return try await base.register(schema) }
    if flaw == .keepsFirstDeclarations {
      let known = try await base.read { snapshot throws(SyncError) in try snapshot.registeredEntities() }
      let new = schema.entities.filter { entity in !known.contains { $0.type == entity.type } }
      return new.isEmpty ? () : try await base.register(SyncSchema(new))
    }
    try await base.register(schema)
    try await base.write(.app) { transaction throws(SyncError) in
      for entity in schema.entities {
        switch flaw {
        case .forgetsRecordsWhenRegistered:
          let records = try transaction.records(Query(entity.type))
          try transaction.delete(records.map { Tombstone(id: $0.id, version: $0.version) })
        case .forgetsEditsWhenRegistered:
          try transaction.dequeue(try transaction.outbox(entity.type, after: nil, limit: 9).map(\.id))
        default: break
        }
      }
    }
  }

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
    var authority = authority
    var values: [String: [UInt8]]?
    switch (flaw, authority) {
    case (.givesUpWhenCancelled, _):
      if Task.isCancelled { throw SyncError(.cancelled, during: "writing") }
    case (.ignoresFences, _): authority = .app
    case (.comparesFencesFirst, .lease(let lease)):
      try await base.write(authority) { _ in }
      // Until the lease is taken over. Some checks take it over only in the body.
      await Patience.$limit.withValue(.seconds(1)) {
        _ = await Patience.lasts { state.withLock { $0.lease?.fence } != lease.fence }
      }
      authority = .app
    case (.endsLeasesOnTime, .lease(let lease)):
      if leaseClock() >= lease.expiresAt { throw SyncError(.leaseLost, during: "writing") }
    case (.refusesAppsDuringSyncs, .app):
      if state.withLock({ $0.isHeld }) { throw SyncError(.storeBusy, during: "writing") }
    case (.readsBeforeItsTurn, _):
      values = try await base.read { snapshot throws(SyncError) in
        var values: [String: [UInt8]] = [:]
        for key in try snapshot.keys(withPrefix: "", after: nil, limit: 9) {
          values[key] = try snapshot.value(forKey: key)
        }
        return values
      }
      for _ in 0..<200 { await Task.yield() }
    default: break
    }
    let uncommittedResult = Mutex<R?>(nil)
    do throws(SyncError) {
      let result = try await base.write(authority) { [values] transaction throws(SyncError) in
        let flawed = FlawedTransaction(
          flaw: flaw, base: transaction, uncommitted: uncommitted, values: values)
        do throws(SyncError) {
          let result = try body(flawed)
          for changes in flawed.waiting { try transaction.apply(changes) }
          if flaw == .commitsNothing {
            uncommittedResult.withLock { $0 = result }
            throw SyncError(.cancelled, during: "writing")
          }
          return Result<R, SyncError>.success(result)
        } catch {
          guard flaw == .keepsWritesOfThrowingBody else { throw error }
          return .failure(error)
        }
      }
      return try result.get()
    } catch {
      guard let result = uncommittedResult.withLock({ $0 }) else { throw error }
      return result
    }
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    let wasHeld = state.withLock { $0.isHeld }
    let askers = state.withLock { state in
      state.askers += 1
      return state.askers
    }
    if flaw == .takesLeasesInTwoSteps, askers == 1 {
      // Until another one asks, too.
      _ = await Patience.lasts { state.withLock { $0.askers } > 1 }
    }
    if flaw == .takesNoLeaseOver, wasHeld { throw SyncError(.syncAlreadyInProgress, during: "waiting") }
    do throws(SyncError) {
      let lease = try await base.acquireLease(for: duration)
      state.withLock { ($0.lease, $0.isHeld) = (lease, true) }
      return flaw == .repeatsFences ? Lease(fence: 1, expiresAt: lease.expiresAt) : lease
    } catch {
      guard flaw == .givesLeaseToAll || flaw == .takesLeasesInTwoSteps && !wasHeld else { throw error }
      return Lease(fence: .max, expiresAt: Timestamp(milliseconds: 0))
    }
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    flaw == .renewsLostLeases ? lease : try await base.renew(lease, for: duration)
  }

  func release(_ lease: Lease) async throws(SyncError) {
    if flaw == .keepsReleasedLeases { return }
    let last = state.withLock { state in
      state.isHeld = false
      return state.lease
    }
    let isAnyReleased = flaw == .releasesAnyLease || flaw == .repeatsFences
    try await base.release(isAnyReleased ? last ?? lease : lease)
  }
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
