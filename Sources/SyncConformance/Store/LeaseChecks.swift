import SyncModels
import SyncPorts

/// The lease: its holder, and the exclusion of others.
enum LeaseChecks {
  private static let minute = Duration.seconds(60)

  /// Checks that a call succeeds, and returns its result.
  private static func expectSuccess<R>(
    _ sentence: @autoclosure () -> String, of operation: () async throws(SyncError) -> R
  ) async throws(ConformanceFailure) -> R {
    do {
      return try await operation()
    } catch {
      throw ConformanceFailure("\(sentence()) It failed: \(error).")
    }
  }

  /// An expired lease, and its successor, taken by another handle.
  private static func takeOver(_ bench: StoreBench) async throws -> (lost: Lease, current: Lease) {
    let lost = try await bench.store.acquireLease(for: minute)
    bench.harness.advanceLeaseClock?(.seconds(61))
    let other = try await bench.harness.open()
    let current = try await expectSuccess("A lease that has expired is taken over.") {
      () throws(SyncError) in try await other.acquireLease(for: minute)
    }
    return (lost, current)
  }

  static func leaseHasOneHolder(_ bench: StoreBench) async throws {
    _ = try await bench.store.acquireLease(for: minute)
    try await expect(.syncAlreadyInProgress, "A lease that is held cannot be taken again.") {
      () throws(SyncError) in _ = try await bench.store.acquireLease(for: minute)
    }
    let other = try await bench.harness.open()
    try await expect(.syncAlreadyInProgress, "A lease that is held cannot be taken by another handle.") {
      () throws(SyncError) in _ = try await other.acquireLease(for: minute)
    }
  }

  static func racedLeaseHasOneHolder(_ bench: StoreBench) async throws {
    let handles = [bench.store, try await bench.harness.open()]
    let failures: [SyncError.Code?] = await withTaskGroup(of: SyncError.Code?.self) { group in
      for number in 0..<20 {
        let handle = handles[number % 2]
        group.addTask {
          do throws(SyncError) {
            _ = try await handle.acquireLease(for: minute)
            return nil
          } catch {
            return error.code
          }
        }
      }
      var failures: [SyncError.Code?] = []
      for await failure in group { failures.append(failure) }
      return failures
    }
    try expect(failures.count { $0 == nil }, equals: 1, "One of many that ask at once gets the lease.")
    try expect(
      Set(failures.compactMap(\.self)), equals: [.syncAlreadyInProgress],
      "The others hear that a sync is in progress.")
  }

  static func leaseThatRanOutIsTakenOver(_ bench: StoreBench) async throws {
    let (lost, current) = try await takeOver(bench)
    try expect(current.fence > lost.fence, "A later lease has a greater fence.")
    try expect(current.expiresAt > lost.expiresAt, "A later lease of the same length ends later.")
  }

  static func fencesRise(_ bench: StoreBench) async throws {
    var last = Int64.min
    for _ in 1...3 {
      let lease = try await bench.store.acquireLease(for: minute)
      try expect(lease.fence > last, "Each later lease has a greater fence.")
      last = lease.fence
      try await bench.store.release(lease)
    }
  }

  static func lostLeaseCannotWrite(_ bench: StoreBench) async throws {
    let (lost, current) = try await takeOver(bench)
    let copy = try StoreBench.copy("games", "g")
    try await expect(.leaseLost, "A lease that was taken over cannot commit.") { () throws(SyncError) in
      try await bench.store.write(.lease(lost)) { transaction throws(SyncError) in
        try transaction.put([copy])
      }
    }
    try expect(try await bench.keys(Query("games")), equals: [], "A refused write leaves nothing.")
    try await bench.store.write(.lease(current)) { transaction throws(SyncError) in
      try transaction.put([copy])
    }
    try expect(try await bench.keys(Query("games")), equals: ["g"], "The latest lease can commit.")
  }

  /// The store may let the new holder wait for the write. Then the write stands.
  static func leaseTakenOverDuringAWriteStopsIt(_ bench: StoreBench) async throws {
    let copy = try StoreBench.copy("games", "g")
    let lost = try await bench.store.acquireLease(for: minute)
    bench.harness.advanceLeaseClock?(.seconds(61))
    let other = try await bench.harness.open()
    let brief = Patience.brief
    let (wasTaken, failure) = try await AtomicityChecks.turn.take {
      let (begun, asked, taken) = (Signal(), Signal(), Signal())
      async let takeover: Void = {
        await begun.wait()
        asked.give()
        _ = try await other.acquireLease(for: minute)
        taken.give()
      }()
      var (wasTaken, failure): (Bool, SyncError?) = (false, nil)
      do throws(SyncError) {
        wasTaken = try await bench.store.write(.lease(lost)) { transaction throws(SyncError) in
          begun.give()
          let wasTaken = asked.waitBriefly() && taken.waitBriefly(atMost: brief)
          try transaction.put([copy])
          return wasTaken
        }
      } catch {
        failure = error
      }
      begun.give()
      try await takeover
      return (wasTaken, failure)
    }
    try expectNoLaterCommit(failure, isThere: try await bench.record(copy.id) != nil, wasThere: !wasTaken)
  }

  /// The write waits for another one, behind which the lease is taken over.
  static func leaseTakenOverBeforeAWriteStopsIt(_ bench: StoreBench) async throws {
    let other = try await bench.another()
    for round in 0..<10 {
      let copy = try StoreBench.copy("games", "g\(round)")
      let others = try (0..<100).map { try StoreBench.copy("teams", "t\($0)", version: Int64(round)) }
      let lost = try await bench.store.acquireLease(for: minute)
      bench.harness.advanceLeaseClock?(.seconds(61))
      async let takeover: (lease: Lease, wasThere: Bool) = {
        try await other.put(others)
        let lease = try await other.store.acquireLease(for: minute)
        return (lease, try await other.record(copy.id) != nil)
      }()
      var failure: SyncError?
      for _ in 0..<round { await Task.yield() }
      do throws(SyncError) {
        try await bench.store.write(.lease(lost)) { transaction throws(SyncError) in
          try transaction.put([copy])
        }
      } catch {
        failure = error
      }
      let (lease, wasThere) = try await takeover
      let isThere = try await bench.record(copy.id) != nil
      try expectNoLaterCommit(failure, isThere: isThere, wasThere: wasThere)
      try await other.store.release(lease)
    }
  }

  /// Checks that a write under a lost lease came before the takeover, or was refused.
  private static func expectNoLaterCommit(
    _ failure: SyncError?, isThere: Bool, wasThere: Bool
  ) throws(ConformanceFailure) {
    if let failure {
      try expect(failure.code, equals: .leaseLost, "A write fails only because its lease was taken over.")
    }
    try expect(isThere, equals: failure == nil, "A refused write leaves nothing, and another one remains.")
    try expect(wasThere || !isThere, "Nothing is committed under a lease that was taken over.")
  }

  static func lostLeaseCannotBeRenewed(_ bench: StoreBench) async throws {
    let (lost, current) = try await takeOver(bench)
    try await expect(.leaseLost, "A lease that was taken over cannot be renewed.") { () throws(SyncError) in
      _ = try await bench.store.renew(lost, for: minute)
    }
    _ = try await bench.store.renew(current, for: minute)
  }

  static func renewedLeaseLasts(_ bench: StoreBench) async throws {
    let lease = try await bench.store.acquireLease(for: minute)
    bench.harness.advanceLeaseClock?(.seconds(40))
    let renewed = try await bench.store.renew(lease, for: minute)
    try expect(renewed.fence, equals: lease.fence, "A renewed lease keeps its fence.")
    try expect(
      renewed.expiresAt.duration(since: lease.expiresAt), equals: .seconds(40),
      "A renewed lease lasts for the duration from now.")
    bench.harness.advanceLeaseClock?(.seconds(40))
    try await expect(.syncAlreadyInProgress, "A renewed lease is held until its new end.") {
      () throws(SyncError) in _ = try await bench.store.acquireLease(for: minute)
    }
  }

  static func overdueLeaseGoesOnUntilTakenOver(_ bench: StoreBench) async throws {
    let lease = try await bench.store.acquireLease(for: minute)
    bench.harness.advanceLeaseClock?(.seconds(61))
    let copy = try StoreBench.copy("games", "g")
    try await expectSuccess("An overdue lease can commit until it is taken over.") { () throws(SyncError) in
      try await bench.store.write(.lease(lease)) { transaction throws(SyncError) in
        try transaction.put([copy])
      }
    }
    _ = try await bench.store.renew(lease, for: minute)
    try await expect(.syncAlreadyInProgress, "A lease renewed late, and not too late, is held.") {
      () throws(SyncError) in _ = try await bench.store.acquireLease(for: minute)
    }
  }

  static func releasedLeaseIsFree(_ bench: StoreBench) async throws {
    let lease = try await bench.store.acquireLease(for: minute)
    try await bench.store.release(lease)
    let other = try await bench.harness.open()
    let next = try await expectSuccess("A released lease is free.") { () throws(SyncError) in
      try await other.acquireLease(for: minute)
    }
    try expect(next.fence > lease.fence, "Each later lease has a greater fence.")
  }

  static func releasingALostLeaseDoesNothing(_ bench: StoreBench) async throws {
    let (lost, current) = try await takeOver(bench)
    try await bench.store.release(lost)
    try await expect(.syncAlreadyInProgress, "Giving back a lost lease leaves the current one.") {
      () throws(SyncError) in _ = try await bench.store.acquireLease(for: minute)
    }
    _ = try await bench.store.renew(current, for: minute)
  }

  static func appWritesNeedNoLease(_ bench: StoreBench) async throws {
    _ = try await bench.store.acquireLease(for: minute)
    let copy = try StoreBench.copy("games", "g")
    try await expectSuccess("The app needs no lease.") { () throws(SyncError) in try await bench.put(copy) }
    try expect(
      try await bench.keys(Query("games")), equals: ["g"], "The app writes while a sync holds the lease.")
  }
}
