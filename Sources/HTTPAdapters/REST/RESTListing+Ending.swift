import SyncModels

/// What a listing that has ended can promise, and where the next delta starts.
extension RESTListing {
  /// The token of the first page, if pages follow: what they show is in doubt until their end.
  func doubted(_ next: RecordPage.Continuation, _ candidate: RESTToken) -> RESTToken {
    var token = candidate
    if case .more = next, collection.countsPages { token.relists = true }
    return token
  }

  /// Returns the last page, with the token of the next delta.
  func finished(
    _ changes: [RecordChange], _ bookmark: RESTBookmark, _ asked: Asked
  ) async throws(SyncError) -> RecordPage {
    if let total = bookmark.total, bookmark.pages <= 1, bookmark.coverage == .everything,
      bookmark.rows < total
    {
      throw SyncError(
        .inconsistentData, during: operation,
        "The listing ended after \(bookmark.rows) of \(total) records (\(collection.place("total"))); does \(collection.place("paging")) lead on?"
      )
    }
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
    case .since, .token:
      if try await isInDoubt(bookmark) {
        if bookmark.coverage == .everything { token.relists = true } else { token = bookmark.base ?? token }
      }
    case nil: break
    }
    return RecordPage(
      coverage: bookmark.coverage, changes: changes,
      next: .done(token.start == .list || token.start == .pages([]) ? nil : token.syncToken))
  }

  /// Whether a change may have moved a record past the pages.
  private func isInDoubt(_ bookmark: RESTBookmark) async throws(SyncError) -> Bool {
    guard bookmark.pages > 1 else { return false }
    let isCounted = collection.countsPages || bookmark.isShifting
    guard isCounted else { return false }
    if bookmark.hasMoved || (bookmark.total ?? bookmark.rows) > bookmark.rows { return true }
    if case .offset = collection.paging, !bookmark.isShifting { return false }
    // A delta that shows nothing means that nothing moved.
    let asked = try await ask { _ in (1, requests.first(bookmark.candidate, limit: 1)) }
    return try !RESTAnswer(asked.response, of: collection, during: operation).rows.isEmpty
  }
}
