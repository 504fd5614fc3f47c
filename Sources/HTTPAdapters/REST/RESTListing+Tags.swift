import SyncModels
import SyncPorts

/// Pages that are asked for on the condition that they have changed (RFC 9110).
extension RESTListing {
  /// The most pages whose tags are kept. A longer listing is listed again each time.
  static let mostTaggedPages = 100

  /// Returns an empty page for a tagged page that has not changed.
  func walk(_ walk: RESTTagWalk) async throws(SyncError) -> RecordPage {
    let page = walk.page
    let elapsed = session.clock.stopwatch()
    let asked = try await ask(headers: ["If-None-Match": page.tag]) { limit in
      (limit, walk.index == 0 ? requests.first(nil, limit: limit) : requests.address(page.target))
    }
    guard asked.response.status == 304 else {
      // The server may be unavailable for a while, which tells nothing about its pages.
      if walk.index > 0, [404, 410].contains(asked.response.status) { return Self.reset(.tokenExpired) }
      let answer = try RESTAnswer(asked.response, of: collection, during: operation)
      guard walk.index == 0 else { return Self.reset(.tokenExpired) }
      return try await first(
        answer, asked, since: nil, listedAt: session.clock.timestamp, elapsed: elapsed())
    }
    let next: RecordPage.Continuation =
      walk.next.map { .more($0.pageToken, resumable: true) } ?? .done(walk.token.syncToken)
    return RecordPage(
      coverage: .changes, changes: [], startToken: walk.index == 0 ? walk.token.syncToken : nil, total: 0,
      next: next)
  }

  /// Keeps the tag of a page.
  func note(_ answer: RESTAnswer, _ asked: Asked, _ bookmark: inout RESTBookmark) {
    guard let tagged = bookmark.tagged else { return }
    guard let tag = answer.tag, tagged.count < Self.mostTaggedPages else {
      bookmark.tagged = nil
      return
    }
    bookmark.tagged?.append(RESTToken.Page(target: asked.address.target, tag: tag))
  }
}
