import SyncModels
import SyncPorts

/// The edits that are new in an engine's outbox, of this process and of others.
struct NewEdits {
  private let store: any LocalStore
  private let types: [RecordType]
  private let watch: CommitWatch

  init(_ engine: SyncEngine) {
    store = engine.environment.store
    types = engine.schema.entities.filter { $0.access != .local }.map(\.type)
    watch = engine.records.watch()
  }

  /// Reports that there are new ones, until the task is cancelled.
  ///
  /// What waits before the first look was perhaps made just before the former process died, or while no
  /// coordinator ran.
  ///
  /// - Parameter report: Receives whether the edits were there before the first look.
  func follow(_ report: (_ areEarlier: Bool) -> Void) async {
    var newest: EditStamp?
    var named: [RecordID] = []
    var look = await watch.look()
    var isFirst = true
    while !Task.isCancelled {
      do throws(SyncError) {
        let (stamp, isAnyWaiting) = try await newestStamp(after: newest)
        let isNew =
          if isFirst { isAnyWaiting } else if stamp == nil { try await isAnyDue(named) } else { true }
        newest = stamp ?? newest
        if isNew { report(isFirst) }
        (isFirst, named) = (false, [])
      } catch {
        // The next commit looks again.
      }
      var isNews = false
      while !isNews, !Task.isCancelled {
        let awakening = await watch.wait(after: look, ignoresOwn: true)
        isNews = awakening.isByOthers || awakening.events.contains(where: \.mayBeEdit)
        named += awakening.events.flatMap(\.edited)
      }
      look = await watch.look()
    }
  }

  /// Whether an edit of one of some records is due: a draft that was let go, and a default, may be older than
  /// edits of other records.
  private func isAnyDue(_ ids: [RecordID]) async throws(SyncError) -> Bool {
    if ids.isEmpty { return false }
    return try await store.read { (snapshot) throws(SyncError) in
      try snapshot.outbox(for: ids).contains { $0.author == .app && $0.state == .waiting && $0.sent == nil }
    }
  }

  /// The stamp of the newest edit of the app's, if it is newer than another, and whether any such edit is
  /// neither refused nor postponed.
  private func newestStamp(
    after start: EditStamp?
  ) async throws(SyncError) -> (newest: EditStamp?, isAnyWaiting: Bool) {
    let types = types
    return try await store.read { (snapshot) throws(SyncError) in
      var (newest, isAnyWaiting): (EditStamp?, Bool) = (nil, false)
      for type in types where try snapshot.outboxCount(type) > 0 {
        var entries = try snapshot.portion(outbox: type, after: start)
        while let end = entries.last?.edit.stamp {
          let ours = entries.filter { $0.author == .app && !$0.isHeldByTheApp }
          if !ours.isEmpty { newest = max(newest ?? end, end) }
          isAnyWaiting = isAnyWaiting || ours.contains { $0.state == .waiting }
          entries = try snapshot.portion(outbox: type, after: end)
        }
      }
      return (newest, isAnyWaiting)
    }
  }
}

extension SyncEvent {
  /// Whether the outbox may have an edit that it had not before.
  fileprivate var mayBeEdit: Bool {
    switch self {
    case .edited, .lost: true
    default: false
    }
  }

  /// The records of which the event tells that they were edited.
  fileprivate var edited: [RecordID] {
    if case .edited(.records(let ids)) = self { ids } else { [] }
  }
}
