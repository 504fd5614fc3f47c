import CanonicalSync
import SyncAdapters

/// A source that delays each page, so that a sync can be watched and interrupted.
struct DelayedSource: RemoteRecordSource {
  private let source: any RemoteRecordSource
  private let delay: Duration

  init(_ source: any RemoteRecordSource, delay: Duration) {
    self.source = source
    self.delay = delay
  }

  var identity: String { source.identity }
  var capabilities: SourceCapabilities { source.capabilities }
  func capabilities(of type: RecordType) -> SourceCapabilities { source.capabilities(of: type) }
  func query(for type: RecordType) -> String { source.query(for: type) }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    if delay > .zero {
      do {
        try await Task.sleep(for: delay)
      } catch {
        throw SyncError(.cancelled, during: "waiting for a page of \(request.entity.type)")
      }
    }
    return try await source.page(request)
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await source.lookup(ids, of: entity)
  }
}
