import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// A source whose answers do not keep their word, as those of some real remotes.
final class CapriciousSource: ForwardingSource {
  let base: any RemoteRecordSource
  private let moods: Moods
  private let remote: InMemoryRemote
  /// What precedes each page, by its token.
  private let places = Mutex<[PageToken: Place]>([:])

  /// What precedes a page.
  private struct Place {
    /// The number of pages.
    var depth = 0
    /// The last changes of the page before, if they have one time.
    var tie: [RecordChange] = []
  }

  init(base: any RemoteRecordSource, remote: InMemoryRemote, moods: Moods) {
    (self.base, self.remote, self.moods) = (base, remote, moods)
  }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var place = Place()
    if case .resume(let token) = request.position { place = places.withLock { $0[token] ?? place } }
    if let refusal = try moods.refusal(after: place.depth) { return refusal }
    var page = try await base.page(request)
    if case .reset = page.next { return page }
    if place.depth == 0 { page.total = moods.total(of: page) }
    let isOrderedByTime = if case .modifiedSince = capabilities.deltas { true } else { false }
    if isOrderedByTime {
      let tie = place.tie.filter { change in
        change.id.flatMap { remote.present($0, of: request.entity) } == change
      }
      page.changes = moods.reordered(page.changes, after: tie)
    }
    if case .more(let token, _) = page.next {
      let tie = isOrderedByTime ? page.changes.lastTie : []
      places.withLock { $0[token] = Place(depth: place.depth + 1, tie: tie) }
    }
    page.changes = page.changes.map(moods.varied)
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await base.lookup(ids, of: entity).map(moods.varied)
  }
}

extension [RecordChange] {
  /// The last changes that have one time.
  fileprivate var lastTie: [RecordChange] {
    guard let time = last?.modifiedAt else { return [] }
    return Array(reversed().prefix { $0.modifiedAt == time }.reversed())
  }
}
