import SyncModels
import SyncPorts

/// What a listing that has ended can promise, and where the next delta starts.
extension RESTListing {
  /// Ends one list: the pass goes on with the next one, or is finished.
  func ended(
    _ changes: [RecordChange], _ bookmark: RESTBookmark
  ) async throws(SyncError) -> RecordPage {
    guard let segment = try await segment(after: bookmark) else {
      return try await finished(changes, bookmark)
    }
    if let reset = try demandWhole(bookmark) { return reset }
    var bookmark = bookmark
    // What moved in this list is in doubt, whatever the lists after it show.
    if case .since = collection.delta, try await isInDoubt(bookmark) { bookmark.candidate.relists = true }
    var page = RecordPage(
      coverage: bookmark.coverage, changes: changes,
      next: .more(bookmark.beginning(segment).pageToken, resumable: true))
    page.endsList = true
    return page
  }

  /// The list after another one; `nil` after the last.
  private func segment(after bookmark: RESTBookmark) async throws(SyncError) -> RESTSegment? {
    var segment = bookmark.segment
    if let each = collection.each {
      segment.each += 1
      return segment.each < each.values.count ? segment : nil
    }
    if let last = segment.parent, let under = collection.under {
      segment.parent = try await stored(under).key(of: under.type, after: last)
      return segment.parent == nil ? nil : segment
    }
    if let from = segment.from, case .since(let now) = bookmark.candidate.start,
      case .since(_, _, let overlap, _) = collection.delta
    {
      let end = requests.end(of: from, until: now)
      guard end < now else { return nil }
      segment.from = end - overlap
      return segment
    }
    return nil
  }

  /// The token of the first page, if pages follow: what they show is in doubt until their end.
  func doubted(_ next: RecordPage.Continuation, _ candidate: RESTToken) -> RESTToken {
    var token = candidate
    if case .more = next, collection.countsPages { token.relists = true }
    return token
  }

  /// Returns the last page, with the token of the next delta.
  func finished(
    _ changes: [RecordChange], _ bookmark: RESTBookmark
  ) async throws(SyncError) -> RecordPage {
    if let reset = try demandWhole(bookmark) { return reset }
    if bookmark.coverage == .full { shortfalls.end(of: request.entity.type) }
    var token = bookmark.candidate
    switch collection.delta {
    case .etag:
      let pages = bookmark.tagged ?? []
      token.start = .pages(pages)
      token.relists = needsTwoListings && bookmark.confirms != RESTToken.digest(of: pages)
    case .token(let pointer, _) where token.start == .list:
      throw SyncError(
        .inconsistentData, during: operation,
        "\(pointer) (\(collection.place("delta.token"))) leads to nothing on all \(Counted(bookmark.pages, "page"))."
      )
    case .next(let pointer) where token.start == .list:
      throw SyncError(
        .inconsistentData, during: operation,
        "\(pointer) (\(collection.place("delta.next"))) leads to nothing on all \(Counted(bookmark.pages, "page"))."
      )
    case .since, .token, .next:
      let isDoubted = token.relists
      if try await isInDoubt(bookmark) || isDoubted {
        if bookmark.coverage == .full { token.relists = true } else { token = bookmark.base ?? token }
      }
    case nil: break
    }
    return RecordPage(
      coverage: bookmark.coverage, changes: changes,
      next: .done(token.start == .list || token.start == .pages([]) ? nil : token.syncToken))
  }

  /// Compares a list that has ended with the total that it named.
  ///
  /// - Returns: The reset that lists everything once more; `nil` if the list is whole.
  private func demandWhole(_ bookmark: RESTBookmark) throws(SyncError) -> RecordPage? {
    if let total = bookmark.total, bookmark.pages <= 1, bookmark.coverage == .full,
      bookmark.rows < total
    {
      throw SyncError(
        .inconsistentData, during: operation,
        "The listing ended after \(bookmark.rows) of \(total) records (\(collection.place("total"))); does \(collection.place("paging")) lead on?"
      )
    }
    if bookmark.coverage == .full, bookmark.pages > 1, !bookmark.hasMoved, let total = bookmark.total,
      bookmark.rows - bookmark.repeated < total
    {
      // A change during the pages may have hidden records, so everything is listed once more.
      if shortfalls.isFirst(of: request.entity.type) { return .reset(.pageTokenExpired) }
      throw SyncError(
        .inconsistentData, during: operation,
        "Two listings have ended after \(bookmark.rows - bookmark.repeated) of \(total) records (\(collection.place("total"))); does \(collection.place("paging")) lead on?"
      )
    }
    return nil
  }

  /// Whether a change may have moved a record past the pages.
  private func isInDoubt(_ bookmark: RESTBookmark) async throws(SyncError) -> Bool {
    let isCounted = collection.countsPages || bookmark.isShifting
    guard isCounted else { return false }
    // A record that comes twice stands where another one was not seen.
    if bookmark.hasMoved || bookmark.coverage == .full && bookmark.repeated > 0 { return true }
    guard bookmark.pages > 1 else { return false }
    if (bookmark.total ?? bookmark.rows) > bookmark.rows { return true }
    // Of several spans, each is compared with its own total alone.
    if collection.window != nil { return false }
    if case .offset = collection.paging, !bookmark.isShifting { return false }
    // A delta that shows nothing since the pass began means that nothing moved.
    var closing = bookmark.candidate
    if case .since(_, _, let overlap, _) = collection.delta, case .since(let began) = closing.start {
      closing.start = .since(began + overlap)
    }
    let asked = try await ask { [closing] _ in requests.first(closing, limit: 1, in: bookmark.segment) }
    return try !RESTAnswer(asked.response, of: collection, during: operation).rows.isEmpty
  }
}
