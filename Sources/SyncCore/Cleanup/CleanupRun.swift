import SyncJSON
import SyncModels
import SyncPorts

/// Carries out a clean-up policy, in short transactions under the lease.
struct CleanupRun {
  let environment: RunEnvironment
  let edits: LocalEdits
  let policy: CleanupPolicy
  let stop: StopSignal

  func perform() async throws(SyncError) -> CleanupReport {
    var report = try await LeaseKeeper.hold(environment) { (lease) throws(SyncError) -> CleanupReport in
      var report = CleanupReport()
      try await HiddenReview(environment: environment, policy: policy, stop: stop).perform(lease, &report)
      // Referring types go first: a record that others refer to is not hidden.
      for entity in environment.schema.entities.reversed() {
        for rule in policy.rules where rule.type == entity.type {
          try await apply(rule, to: entity, lease, &report)
        }
      }
      try await forgetConflicts(lease)
      try await purge(lease, &report)
      return report
    }
    // Edits need no lease.
    for member in policy.expiring where !report.wasCancelled {
      try await MemberPurge(environment: environment, edits: edits, member: member, stop: stop)
        .run(portion: policy.recordsAtOnce, &report)
    }
    return report
  }

  // MARK: Hiding

  private func apply(
    _ rule: CleanupPolicy.Rule, to entity: Entity, _ lease: LeaseKeeper,
    _ report: inout CleanupReport
  ) async throws(SyncError) {
    let refersToItself = entity.references.contains { $0.isOrdered && $0.target == entity.type }
    var spared = 0
    var rounds = DwindlingRounds()
    repeat {
      spared = 0
      let end = try await stop.walk { (last) throws(SyncError) in
        let (portion, count) = try await hide(rule, of: entity, after: last, lease)
        if !portion.ids.isEmpty { environment.emit(.hidden(.records(portion.ids))) }
        rounds.note(portion.ids)
        report.hidden[entity.type, default: 0] += portion.ids.count
        spared += count
        return portion.end
      }
      if end == .stopped { report.wasCancelled = true }
      // A record to which only records of its own type refer can be hidden after those.
    } while try rounds.end() && refersToItself && !report.wasCancelled
    report.spared[entity.type, default: 0] += spared
  }

  /// Hides one portion, and counts the records that are spared.
  private func hide(
    _ rule: CleanupPolicy.Rule, of entity: Entity, after key: String?, _ lease: LeaseKeeper
  ) async throws(SyncError) -> (Portion<String>, spared: Int) {
    let (schema, now, limit) = (environment.schema, environment.clock.timestamp, policy.recordsAtOnce)
    let fence = lease.fence
    return try await lease.write { (transaction) throws(SyncError) in
      let records = try transaction.portion(
        of: Query(entity.type, where: rule.condition(at: now), afterKey: key, limit: limit))
      let covered = records.filter { rule.covers($0, at: now) }
      let spared = try spared(among: covered.map(\.id), of: entity, schema, in: transaction)
      let chosen = covered.filter { !spared.contains($0.id) }
      try HiddenRecords(schema: schema, transaction: transaction).hide(
        chosen, reason: "hidden by a clean-up rule, until the remote changes it", fence: fence, at: now)
      let end = records.count == limit ? records.last?.id.key : nil
      return (Portion(ids: chosen.map(\.id), end: end), spared.count)
    }
  }

  /// Returns those of some records that stay whatever their age.
  private func spared(
    among ids: [RecordID], of entity: Entity, _ schema: SyncSchema, in transaction: any StoreTransaction
  ) throws(SyncError) -> Set<RecordID> {
    guard !ids.isEmpty else { return [] }
    var spared: Set<RecordID> = []
    if !schema.referrers(to: entity.type).isEmpty {
      spared = try transaction.referenced(among: ids, by: schema)
    }
    if try transaction.outboxCount(entity.type) > 0 {
      spared.formUnion(try transaction.outbox(for: ids).map(\.id))
    }
    if try !transaction.withheldCounts(entity.type).isEmpty {
      spared.formUnion(try transaction.withheld(of: ids).keys)
    }
    return spared
  }

  // MARK: Forgetting

  private func forgetConflicts(_ lease: LeaseKeeper) async throws(SyncError) {
    guard let age = policy.keepsConflicts, !stop.isRaised else { return }
    let end = environment.clock.timestamp - age
    try await lease.write { (transaction) throws(SyncError) in
      try transaction.removeConflicts(settledBefore: end)
    }
  }

  private func purge(_ lease: LeaseKeeper, _ report: inout CleanupReport) async throws(SyncError) {
    let now = environment.clock.timestamp
    report.expired = try await purge(ExpiryMark.prefix, lease, &report) { (bytes) in
      guard let kept = try? JSONByteDecoder().decode(AnyExpiring.self, from: bytes[...]) else { return true }
      return kept.mark.isOver(at: now)
    }
    guard let age = policy.keepsSightings else { return }
    report.sightings = try await purge(ThrottleKeys.sightings, lease, &report) { (bytes) in
      let seen = try? JSONByteDecoder().decode(AnySighting.self, from: bytes[...])
      return seen.map { $0.seenAt < now - age } ?? true
    }
    _ = try await purge(ThrottleKeys.marks, lease, &report) { (bytes) in
      let machine = try? JSONByteDecoder().decode(ThrottleMachine.self, from: bytes[...])
      return machine?.lastSeen(at: now).map { $0 < now - age } ?? true
    }
  }

  /// Removes the values of a kind that have ended.
  ///
  /// - Returns: The number of removed values.
  private func purge(
    _ prefix: String, _ lease: LeaseKeeper, _ report: inout CleanupReport,
    _ isOver: @escaping @Sendable ([UInt8]) -> Bool
  ) async throws(SyncError) -> Int {
    let limit = policy.recordsAtOnce
    var count = 0
    let end = try await stop.walk { (start) throws(SyncError) in
      let (purged, end) = try await lease.write { (transaction) throws(SyncError) in
        let keys = try transaction.portion(keys: prefix, after: start, limit: limit)
        var purged = 0
        for key in keys {
          guard let bytes = try transaction.value(forKey: key), isOver(bytes) else { continue }
          try transaction.setValue(nil, forKey: key)
          purged += 1
        }
        return (purged, keys.count == limit ? keys.last : nil)
      }
      count += purged
      return end
    }
    if end == .stopped { report.wasCancelled = true }
    return count
  }
}

/// The time of a sighting, whatever its value.
private struct AnySighting: Decodable {
  var seenAt: Timestamp
}
