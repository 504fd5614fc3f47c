public import SyncModels
import Synchronization

extension InMemoryRemote {
  /// The numbers of a remote's requests and answers.
  public struct Counters: Hashable, Sendable {
    /// Requests for pages, failed ones included.
    public var requests = 0
    /// Pages that were answered.
    public var pages = 0
    /// Changes sent in pages.
    public var changes = 0
    /// Records looked up by id.
    public var lookups = 0
  }

  /// The counts of one type, or of all types together.
  public func counters(for type: RecordType? = nil) -> Counters {
    state.withLock { state in
      type.map { state.counters.byType[$0] ?? Counters() } ?? state.counters.total
    }
  }

  /// Every request for a page, oldest first.
  public var requestLog: [PageRequest] {
    state.withLock { $0.counters.log }
  }
}

/// The remote's record of requests.
struct RemoteLedger: Sendable {
  private(set) var total = InMemoryRemote.Counters()
  private(set) var byType: [RecordType: InMemoryRemote.Counters] = [:]
  private(set) var log: [PageRequest] = []

  /// A request's number, from 1.
  struct Number {
    var ofAll: Int
    var ofType: Int
  }

  mutating func receive(_ request: PageRequest) -> Number {
    log.append(request)
    count(request.entity.type, \.requests, 1)
    return Number(ofAll: total.requests, ofType: byType[request.entity.type]?.requests ?? 0)
  }

  mutating func serve(_ page: RecordPage, of type: RecordType) {
    count(type, \.pages, 1)
    count(type, \.changes, page.changes.count)
  }

  mutating func lookUp(_ ids: [RecordID], of type: RecordType) {
    count(type, \.lookups, ids.count)
  }

  private mutating func count(
    _ type: RecordType, _ path: WritableKeyPath<InMemoryRemote.Counters, Int>, _ number: Int
  ) {
    total[keyPath: path] += number
    byType[type, default: .init()][keyPath: path] += number
  }
}
