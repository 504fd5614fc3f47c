import CanonicalSync

/// Everything that a report shows, as of one instant.
///
/// Each list is bounded, however much the store holds.
struct ReportModel: Sendable {
  /// The store's path or address.
  var place: String
  /// The store's own name.
  var identity: String
  /// When the store was read.
  var writtenAt: Timestamp
  /// Whether contents of records are shown.
  var showsContents: Bool
  /// The place where the store has moved; `nil` for a store in use.
  var movedTo: String?
  /// The age from which data and edits are too old; `nil` to go by the usual interval.
  var staleAfter: Duration?
  /// The remotes that the types are synced from, as their sources name them.
  var remotes: [String] = []
  /// The state of each type.
  var types: [TypeStatus] = []
  /// The last syncs, the latest first.
  var syncs: [PastSync] = []
  /// The edits in the outbox, the oldest first.
  var edits = Excerpt<PendingEdit>([], of: 0)
  /// The conflicts, the newest first.
  var conflicts = Excerpt<Conflict>([], of: 0)
  /// The malformed records, by type.
  var quarantine = Excerpt<WithheldChange>([], of: 0)

  /// The records that wait for others, by what they wait for.
  var waiting = WaitingRecords()

  /// The most elements of each list.
  enum Limit {
    static let syncs = 1000
    static let edits = 100
    static let conflicts = 50
    static let quarantine = 100
    static let groups = 100
  }

  /// Whether all is well, and what to do.
  var verdict: StoreVerdict {
    StoreVerdict(
      .init(types: types, syncs: syncs, movedTo: movedTo, staleAfter: staleAfter, now: writtenAt))
  }
}

extension ReportModel {
  /// Reads a store, in one snapshot, so that no number contradicts another one.
  ///
  /// - Complexity: As ``TypeStatus/load(_:from:at:)``, and O(*n* log *m*) for the listed elements.
  static func gather(
    from store: any LocalStore, at place: String, now: Timestamp, showsContents: Bool,
    staleAfter: Duration? = nil
  ) async throws(SyncError) -> ReportModel {
    let movedTo = try await store.placeMovedTo()
    return try await store.read { (snapshot) throws(SyncError) in
      let entities = try snapshot.registeredEntities()
      let types = try TypeStatus.load(entities, in: snapshot, at: now)
      var remotes: [String] = []
      var edits: [PendingEdit] = []
      var quarantine: [WithheldChange] = []
      for entity in entities {
        if let remote = try snapshot.checkpoint(for: entity.type)?.scope.source, !remotes.contains(remote) {
          remotes.append(remote)
        }
        edits += try PendingEdit.oldest(of: entity, limit: Limit.edits, in: snapshot)
        let room = Limit.quarantine - quarantine.count
        if room > 0 {
          quarantine += try snapshot.portion(withheld: entity.type, [.quarantined], after: nil, limit: room)
        }
      }
      edits.sort { $0.entry.edit.stamp < $1.entry.edit.stamp }
      let conflicts = try snapshot.portion(conflicts: nil, before: nil, limit: Limit.conflicts + 1)
      return ReportModel(
        place: place, identity: try snapshot.storeIdentity(), writtenAt: now, showsContents: showsContents,
        movedTo: movedTo, staleAfter: staleAfter, remotes: remotes, types: types,
        syncs: try PastSync.load(limit: Limit.syncs, in: snapshot),
        edits: Excerpt(
          Array(edits.prefix(Limit.edits)), of: types.reduce(0) { $0 + $1.pending }),
        conflicts: Excerpt(first: Limit.conflicts, ofRead: conflicts),
        quarantine: Excerpt(
          quarantine, of: types.reduce(0) { $0 + ($1.withheld[.quarantined] ?? 0) }),
        waiting: try WaitingRecords.gather(entities.map(\.type), in: snapshot))
    }
  }
}
