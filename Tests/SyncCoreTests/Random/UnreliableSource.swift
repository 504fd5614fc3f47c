import CanonicalSync
import InMemoryAdapters
import Synchronization

/// A source between engine and remote that fails, repeats, shortens and empties pages at random, until it is calmed.
final class UnreliableSource: RemoteRecordSource {
  private struct State {
    var random: SplitMix64
    var isCalm = false
    var lastPages: [RecordType: RecordPage] = [:]
  }
  private let remote: InMemoryRemote
  private let state: Mutex<State>

  init(_ remote: InMemoryRemote, random: SplitMix64) {
    self.remote = remote
    state = Mutex(State(random: random))
  }

  var identity: String { remote.identity }
  var capabilities: SourceCapabilities { remote.capabilities }

  func calmDown() {
    state.withLock { $0.isCalm = true }
    remote.behaveWell()
  }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let type = request.entity.type
    let roll = state.withLock { $0.isCalm ? 0 : Int.random(in: 1...40, using: &$0.random) }
    switch roll {
    case 1, 2: throw SyncError(.remoteUnavailable, during: "fetching", retryAfter: roll == 1 ? .zero : nil)
    case 3: throw SyncError(.authentication, during: "fetching")
    case 4: throw SyncError(.quotaExceeded, during: "fetching")
    case 5: remote.behave(.shortPage(1), onNext: 1, of: type)
    case 6: remote.behave(.emptyPage, onNext: 1, of: type)
    case 7, 8:
      // A proxy may answer twice with one page; it does not answer with one from another place.
      if let page = state.withLock({ $0.lastPages[type] }), leads(page, to: request) { return page }
    case 9:
      // Only a place in a log survives a replica that lags by more than the overlap, and no listing one that lags behind its start.
      if case .changeTokens = capabilities.deltas, case .start = request.position {
        remote.behave(.laggingReplica(changes: 3), onNext: 1, of: type)
      }
    default: break
    }
    let page = try await remote.page(request)
    state.withLock { $0.lastPages[type] = page }
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await remote.lookup(ids, of: entity)
  }

  private func leads(_ page: RecordPage, to request: PageRequest) -> Bool {
    guard case .more(let token, _) = page.next else { return false }
    return request.position == .resume(token)
  }
}
