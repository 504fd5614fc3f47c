import SyncModels
import SyncPorts

/// The lease: its holder, and the exclusion of others.
enum LeaseChecks {
  private static let minute = Duration.seconds(60)

  /// An expired lease, and its successor, taken by another handle.
  private static func takeOver(_ bench: StoreBench) async throws -> (lost: Lease, current: Lease) {
    let lost = try await bench.store.acquireLease(for: minute)
    bench.harness.advanceLeaseClock?(.seconds(61))
    let other = try await bench.harness.open()
    return (lost, try await other.acquireLease(for: minute))
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
    try await bench.store.write(.lease(lease)) { transaction throws(SyncError) in try transaction.put([copy])
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
    let next = try await other.acquireLease(for: minute)
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
    try await bench.put(StoreBench.copy("games", "g"))
    try expect(
      try await bench.keys(Query("games")), equals: ["g"], "The app writes while a sync holds the lease.")
  }
}
