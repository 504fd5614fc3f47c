import CanonicalSync
import FileAdapters
import SyncAdapters

/// The type that the tests read.
let games = Entity("games", references: [.to("teams", by: "home_team_id")], indexes: ["date"])

/// The result of a whole pass.
struct Listing {
  var pages: [RecordPage] = []

  var changes: [RecordChange] { pages.flatMap(\.changes) }
  var keys: [String] { changes.compactMap { $0.id?.key } }
  var malformed: [MalformedRecord] {
    changes.compactMap { if case .malformed(let malformed) = $0 { malformed } else { nil } }
  }
  var payloads: [String] {
    changes.compactMap {
      if case .upsert(let record) = $0 { String(decoding: record.payload.bytes, as: UTF8.self) } else { nil }
    }
  }
  var token: SyncToken? {
    if case .done(let token) = pages.last?.next { token } else { nil }
  }
}

extension DirectorySource {
  /// Requests one page.
  func page(
    _ position: PullPosition, of entity: Entity = games, limit: Int = 400, pass: Int64 = 1
  ) async throws(SyncError) -> RecordPage {
    try await page(PageRequest(entity: entity, position: position, limit: limit, pass: pass))
  }

  /// Requests every page of a pass.
  func listing(
    of entity: Entity = games, since token: SyncToken? = nil, limit: Int = 400, pass: Int64 = 1
  ) async throws(SyncError) -> Listing {
    var listing = Listing()
    var position = PullPosition.start(since: token)
    while true {
      let page = try await page(position, of: entity, limit: limit, pass: pass)
      listing.pages.append(page)
      guard case .more(let token, _) = page.next else { return listing }
      position = .resume(token)
    }
  }
}

/// The token of the next page.
func next(_ page: RecordPage) -> PageToken? {
  if case .more(let token, _) = page.next { token } else { nil }
}

/// Lines with these numbers, each a record.
func lines(_ numbers: ClosedRange<Int>, padding: Int = 0) -> String {
  numbers.map {
    "{\"id\":\"g\($0)\",\"updated_at\":\($0),\"x\":\"\(String(repeating: "-", count: padding))\"}\n"
  }
  .joined()
}
