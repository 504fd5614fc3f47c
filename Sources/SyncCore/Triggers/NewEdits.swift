import SyncModels
import SyncPorts

/// The edits that are new in an engine's outbox, of this process and of others.
struct NewEdits {
  private let store: any LocalStore
  private let types: [RecordType]
  private let watch: CommitWatch

  init(_ engine: SyncEngine) {
    store = engine.environment.store
    types = engine.schema.entities.map(\.type)
    watch = engine.records.watch()
  }

  /// Reports that there are new ones, until the task is cancelled.
  ///
  /// What waits before the first look is pushed with whatever sync comes first.
  func follow(_ report: () -> Void) async {
    var newest: EditStamp?
    var look = await watch.look()
    var isFirst = true
    while !Task.isCancelled {
      do throws(SyncError) {
        if let stamp = try await newestStamp(after: newest) {
          newest = stamp
          if !isFirst { report() }
        }
        isFirst = false
      } catch {
        // The next commit looks again.
      }
      var isNews = false
      while !isNews, !Task.isCancelled {
        let awakening = await watch.wait(after: look, ignoresOwn: true)
        isNews = awakening.isByOthers || awakening.events.contains(where: \.mayBeEdit)
      }
      look = await watch.look()
    }
  }

  /// The stamp of the newest edit of the app's, if it is newer than another.
  private func newestStamp(after start: EditStamp?) async throws(SyncError) -> EditStamp? {
    let types = types
    return try await store.read { (snapshot) throws(SyncError) in
      var newest: EditStamp?
      for type in types where try snapshot.outboxCount(type) > 0 {
        var entries = try snapshot.portion(outbox: type, after: start)
        while let end = entries.last?.edit.stamp {
          if entries.contains(where: { $0.author == .app && !$0.isHeldByTheApp }) {
            newest = max(newest ?? end, end)
          }
          entries = try snapshot.portion(outbox: type, after: end)
        }
      }
      return newest
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
}
