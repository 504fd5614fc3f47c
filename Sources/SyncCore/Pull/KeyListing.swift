import SyncModels
import SyncPorts

// A listing of keys alone saves the transfer of contents that the store has already.
extension RunEnvironment {
  /// Returns a page with a copy for each record that it lists without content.
  ///
  /// The copy is the stored one, or the withheld one, if that is no older than the listed version.
  /// It is looked up otherwise. A record with a pending edit needs no copy: it counts as listed.
  ///
  /// - Parameter epoch: The epoch of the listing's versions. After the remote was replaced, an
  ///   equal version is another one.
  /// - Throws: The errors of the lookup but `permissionDenied`, and the store's.
  func withContents(
    _ page: RecordPage, of entity: Entity, epoch: Int64
  ) async throws(SyncError) -> RecordPage {
    if page.present.isEmpty { return page }
    var page = page
    var wanted = KnownCopies.Wanted()
    let before = page.changes.count
    for portion in page.present.portions(of: MergeContext.portion) {
      let known = try await store.read { (snapshot) throws(SyncError) in
        try KnownCopies(of: portion, entity, epoch: epoch, in: snapshot)
      }
      page.changes += known.copies
      wanted.unknown += known.wanted.unknown
      wanted.edited += known.wanted.edited
    }
    page.ownCopies = Set(page.changes[before...].compactMap(\.id))
    if !wanted.all.isEmpty { page.changes += try await lookUp(wanted, of: entity) }
    page.contents = page.changes.count - before
    return page
  }
}

extension RunEnvironment {
  /// Looks up records, unless the remote refuses lookups of the type.
  ///
  /// The pass goes on without them: the changes on its other pages must not wait for a permission.
  /// The next listing of keys tries again. A listing of one instant proves by itself what is gone,
  /// so the records that it names are quarantined, and none is swept.
  fileprivate func lookUp(
    _ wanted: KnownCopies.Wanted, of entity: Entity
  ) async throws(SyncError) -> [RecordChange] {
    do throws(SyncError) {
      return try await source.lookup(wanted.all, of: entity)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      guard source.capabilities(of: entity.type).listing == .snapshot else { return [] }
      return wanted.unknown.map { id in
        .malformed(
          MalformedRecord(
            type: entity.type, key: id.key, bytes: Payload([]),
            reason: "the remote lists the record, and refuses to send it"))
      }
    }
  }
}

/// The copies that the store has of listed records, and the records to look up.
private struct KnownCopies {
  /// Records to look up.
  struct Wanted: Sendable {
    var unknown: [RecordID] = []
    /// Those with a pending edit, which count as listed.
    var edited: [RecordID] = []

    var all: [RecordID] { unknown + edited }
  }

  private(set) var copies: [RecordChange] = []
  private(set) var wanted = Wanted()

  init(
    of listed: some Collection<PresentRecord>, _ entity: Entity, epoch: Int64,
    in snapshot: any StoreSnapshot
  ) throws(SyncError) {
    let ids = listed.map(\.id)
    let withheld = try snapshot.withheld(of: ids).filter { $0.value.kind != .missing }
      .mapValues { $0.lifted(by: entity) }
    let edited = try snapshot.edits(of: ids)
    for (present, row) in zip(listed, try snapshot.records(withIDs: ids)) {
      func isCurrent(_ version: Version?) -> Bool {
        guard let version, version.epoch == epoch else { return false }
        return (version.sequence, version.modifiedAt)
          >= (present.version.sequence, present.version.modifiedAt)
      }
      if let entry = withheld[present.id] {
        if case .upsert(let copy) = entry.change, isCurrent(copy.version) {
          copies.append(entry.change)
        } else if edited[present.id] == nil {
          wanted.unknown.append(present.id)
        } else {
          wanted.edited.append(present.id)
        }
      } else if let entry = edited[present.id] {
        if !isCurrent(entry.base.version) { wanted.edited.append(present.id) }
      } else if let row, isCurrent(row.version) {
        copies.append(.upsert(row))
      } else {
        wanted.unknown.append(present.id)
      }
    }
  }
}
