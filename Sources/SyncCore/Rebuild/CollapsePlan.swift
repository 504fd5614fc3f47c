import SyncModels
import SyncPorts

/// The winners and losers of some groups of duplicates, as a snapshot has them.
struct CollapsePlan {
  private(set) var elections: [Election] = []
  /// The counts of the groups that were judged, postponed and skipped.
  private(set) var counts = RebuildReport.Counts()
  /// The natural keys of the groups that cannot be judged yet.
  private(set) var postponed: [String] = []
  private(set) var pending: [RecordID: OutboxEntry] = [:]
  /// The withheld changes of losers, which are released with them.
  private(set) var notes: [WithheldChange.Key] = []

  /// Holds the elections among records that share natural keys.
  ///
  /// - Parameter lists: The records with each of the keys.
  /// - Parameter maximumClockSkew: See ``EditOptions/maximumClockSkew``.
  init(
    _ keys: [String], _ lists: [[Record]], of entity: Entity, _ schema: SyncSchema,
    maximumClockSkew: Duration,
    in snapshot: any StoreSnapshot
  ) throws(SyncError) {
    let mayBePending = try snapshot.outboxCount(entity.type) > 0
    let mayBeWithheld = try !snapshot.withheldCounts(entity.type).isEmpty
    let ids = mayBePending || mayBeWithheld ? lists.flatMap { $0.count > 1 ? $0.map(\.id) : [] } : []
    if mayBePending { pending = try snapshot.edits(of: ids) }
    let withheld = mayBeWithheld ? try snapshot.withheld(of: ids) : [:]
    let barred = try WithheldReferrers(to: entity.type, in: schema).targets(
      among: lists.flatMap { $0.count > 1 ? $0.map(\.id) : [] }, kinds: [.incompatible], in: snapshot)
    let stamps = try FormerWrites(entity, maximumClockSkew: maximumClockSkew, in: snapshot)
    elections.reserveCapacity(keys.count)
    for (key, records) in zip(keys, lists) {
      guard records.count > 1 else {
        counts.aborted += 1
        continue
      }
      // In most runs no withheld change can postpone a group.
      let mayBeOpen = !barred.isEmpty || !withheld.isEmpty
      if mayBeOpen, records.contains(where: { barred.contains($0.id) || isUnsettled($0.id, withheld[$0.id]) })
      {
        counts.postponed += 1
        postponed.append(key)
        continue
      }
      var candidates: [Candidate] = []
      candidates.reserveCapacity(records.count)
      for record in records {
        let stamp = try stamps.lastWrite(of: record, pending: pending[record.id], in: snapshot)
        let deletion = withheld[record.id]?.deletion
        candidates.append(Candidate(record: record, stamp: stamp, deletion: deletion))
      }
      guard let election = Election(consume candidates) else {
        counts.aborted += 1
        continue
      }
      counts.groups += 1
      counts.losers += election.losers.count
      if !withheld.isEmpty { notes += election.losers.compactMap { withheld[$0.id]?.key } }
      elections.append(election)
    }
  }

  /// Returns the winner of each loser.
  func winners() -> [RecordID: RecordID] {
    var winners = [RecordID: RecordID](minimumCapacity: counts.losers)
    for election in elections {
      for loser in election.losers { winners[loser.id] = election.winner.id }
    }
    return winners
  }

  /// Whether the remote has a newer state of a record that is not shown yet.
  ///
  /// The record's future is then unknown.
  private func isUnsettled(_ id: RecordID, _ entry: WithheldChange?) -> Bool {
    switch entry?.kind {
    case nil, .missing: false
    case .held: pending[id] != nil
    default: true
    }
  }
}

extension WithheldChange {
  /// The deletion that waits until no record refers to this one.
  fileprivate var deletion: Tombstone? {
    guard kind == .held, case .tombstone(let tombstone) = change else { return nil }
    return tombstone
  }
}
