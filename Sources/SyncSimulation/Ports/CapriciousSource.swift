import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// A source whose answers do not keep their word, as those of some real remotes.
final class CapriciousSource: RemoteRecordSource {
  private let base: any RemoteRecordSource
  private let moods: Moods
  /// The number of pages before each page, by its token.
  private let depths = Mutex<[PageToken: Int]>([:])

  init(base: any RemoteRecordSource, moods: Moods) {
    (self.base, self.moods) = (base, moods)
  }

  var identity: String { base.identity }
  var capabilities: SourceCapabilities { base.capabilities }
  func capabilities(of type: RecordType) -> SourceCapabilities { base.capabilities(of: type) }
  func query(for type: RecordType) -> String { base.query(for: type) }
  func account() async throws(SyncError) -> RemoteAccount? { try await base.account() }

  func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    var depth = 0
    if case .resume(let token) = request.position { depth = depths.withLock { $0[token, default: 0] } }
    if let refusal = try moods.refusal(after: depth) { return refusal }
    var page = try await base.page(request)
    if case .more(let token, _) = page.next { depths.withLock { $0[token] = depth + 1 } }
    if depth == 0 { page.total = moods.total(of: page) }
    return page
  }

  func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    try await base.lookup(ids, of: entity)
  }
}

/// How a world's remotes break their word.
final class Moods: Sendable {
  private let hazards: Set<Hazard>
  private let choices: Choices
  private let ledger: Ledger
  private let clock: ManualClock
  /// The most pages of a listing, and until when; `nil` for no cap.
  private let cap: Mutex<(pages: Int, end: Duration)?>

  init(_ shape: WorldShape, choices: Choices, ledger: Ledger, clock: ManualClock) {
    (hazards, self.choices, self.ledger, self.clock) = (shape.hazards, choices, ledger, clock)
    let isCapped = shape.hazards.contains(.cappedLists)
    cap = Mutex(
      isCapped
        ? (choices.number(in: 1...3), clock.now.offset + choices.duration(.seconds(20)...(.seconds(300)))) : nil
    )
  }

  /// Whether any source of the world is capricious.
  var areAny: Bool { !hazards.isDisjoint(with: [.cappedLists, .lyingTotals]) }

  /// Lifts the cap.
  func calmDown() { cap.withLock { $0 = nil } }

  /// The answer to the request for a page beyond the cap; `nil` for one within it.
  func refusal(after depth: Int) throws(SyncError) -> RecordPage? {
    guard let cap = cap.withLock({ $0 }), depth >= cap.pages, clock.now.offset < cap.end else { return nil }
    ledger.saw(.listCapped)
    // After a while, a source begins anew: the token may be what the remote no longer knows.
    if choices.once(in: 3) { return RecordPage(coverage: .delta, changes: [], next: .reset(.pageTokenExpired)) }
    throw SyncError(
      .inconsistentData, during: "a page", "The remote refuses the page after \(Counted(depth, "page")).")
  }

  /// The number of records that the remote states with the first page of a pass.
  func total(of page: RecordPage) -> Int? {
    guard hazards.contains(.lyingTotals), choices.below(2) == 1 else { return page.total }
    let total = choices.pick(
      page.changes.count, 0, page.changes.count + 1, 1_000_000, Int.max, -1, (page.total ?? 0) + 1)
    if total != page.total { ledger.saw(.totalFalse) }
    return total
  }
}
