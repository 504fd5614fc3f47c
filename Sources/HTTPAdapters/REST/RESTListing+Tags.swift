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
    var headers: HTTPHeaders = [:]
    if !isCompared(walk) { headers["If-None-Match"] = page.tag }
    let asked = try await ask(headers: headers) { limit in
      walk.index == 0
        ? requests.first(nil, limit: limit)
        : RESTRequests.Call(limit: limit, address: requests.address(page.target))
    }
    guard isUnchanged(walk, asked.response) else {
      // The server may be unavailable for a while, which tells nothing about its pages.
      if walk.index > 0, [404, 410].contains(asked.response.status) { return .reset(.tokenExpired) }
      let answer = try RESTAnswer(asked.response, of: collection, during: operation)
      guard walk.index == 0 else { return .reset(.tokenExpired) }
      return try await first(
        answer, asked, since: nil, listedAt: session.clock.timestamp, elapsed: elapsed())
    }
    let next: RecordPage.Continuation =
      walk.next.map { .more($0.pageToken, resumable: true) } ?? .done(walk.token.syncToken)
    return RecordPage(
      coverage: .delta, changes: [], startToken: walk.index == 0 ? walk.token.syncToken : nil, total: 0,
      next: next)
  }

  /// Whether an unchanged page is recognized by its whole answer.
  ///
  /// A 404 has no tag. A 304 may lack the `Link` to a new page behind the last one (RFC 9110,
  /// 15.4.5).
  private func isCompared(_ walk: RESTTagWalk) -> Bool {
    if case .link = collection.paging, walk.next == nil { return true }
    return walk.page.tag == nil
  }

  private func isUnchanged(_ walk: RESTTagWalk, _ response: HTTPResponse) -> Bool {
    guard isCompared(walk) else { return response.status == 304 }
    guard let tag = walk.page.tag else { return response.status == 404 }
    return response.status == 200 && response.headers["ETag"] == tag
      && RESTAnswer.link(in: response, of: collection) == nil
  }

  /// Keeps the place of a 404, which ends the listing.
  func tagEnd(_ asked: Asked, _ bookmark: inout RESTBookmark) {
    bookmark.tagged?.append(RESTToken.Page(target: requests.target(of: asked.address), tag: nil))
  }

  /// Keeps the tag of a page.
  func tag(_ answer: RESTAnswer, _ asked: Asked, _ bookmark: inout RESTBookmark) {
    guard let tagged = bookmark.tagged else { return }
    guard let tag = answer.tag, !tag.isEmpty, tagged.count < Self.mostTaggedPages else {
      bookmark.tagged = nil
      return
    }
    bookmark.tagged?.append(RESTToken.Page(target: requests.target(of: asked.address), tag: tag))
  }
}
