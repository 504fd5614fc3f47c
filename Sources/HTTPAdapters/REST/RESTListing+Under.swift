import SyncModels

// Lists under the records of another type, one after another.
extension RESTListing {
  /// The most records that one page passes over.
  private static let mostUnchanged = 1000

  /// The store of the engine that asks, which has the records above the lists.
  func stored(_ under: RESTAPI.Parent) throws(SyncError) -> any StoredKeys {
    if let stored = AskingStore.keys { return stored }
    throw SyncError(
      .invalidConfiguration, during: operation,
      "\(collection.place("under")) needs the records of \(under.type), which only an engine has.")
  }

  /// Returns the first page of all lists, or of those whose records have changed since a token.
  func first(
    _ under: RESTAPI.Parent, since base: RESTToken?, listedAt: Timestamp
  ) async throws(SyncError) -> RecordPage {
    let stored = try stored(under)
    var candidate = RESTToken(.list, listedAt: listedAt)
    if under.followsChanges {
      let changes = try await stored.changes(
        of: under.type, above: collection.entity.type, after: base?.position)
      candidate.start = .position(changes.position)
      if base != nil, changes.keys?.isEmpty == true, !changes.isAnyLeaving {
        return RecordPage(coverage: .delta, changes: [], total: 0, next: .done(candidate.syncToken))
      }
    }
    var bookmark = RESTBookmark(coverage: .full, base: base, candidate: candidate)
    bookmark.segment.parent = try await stored.key(of: under.type, after: nil)
    if bookmark.segment.parent == nil { return try await finished([], bookmark) }
    return try await next(at: bookmark)
  }

  /// Passes over records that have not changed: their lists are as they are known here.
  ///
  /// - Returns: The page that lists what is known; `nil` if the list at the bookmark has to be asked for.
  func unchanged(at bookmark: RESTBookmark) async throws(SyncError) -> RecordPage? {
    guard let under = collection.under, under.followsChanges, bookmark.pages == 0,
      let since = bookmark.base?.position, let last = bookmark.segment.parent
    else { return nil }
    let (stored, type) = (try stored(under), collection.entity.type)
    let changes = try await stored.changes(of: under.type, above: type, after: since)
    guard let changed = changes.keys, !changed.contains(last) else { return nil }
    var (bookmark, present, count) = (bookmark, [PresentRecord](), 0)
    while let parent = bookmark.segment.parent, !changed.contains(parent), count < Self.mostUnchanged,
      present.count < request.limit
    {
      present += try await stored.records(of: type, where: under.member, is: parent)
      bookmark.segment.parent = try await stored.key(of: under.type, after: parent)
      count += 1
    }
    var page =
      bookmark.segment.parent == nil
      ? try await finished([], bookmark)
      : RecordPage(coverage: .full, changes: [], next: .more(bookmark.pageToken, resumable: true))
    page.present = present
    page.endsList = true
    return page
  }

  /// Whether the server shows no list under a record.
  func isBarred(_ asked: Asked) -> Bool {
    collection.under != nil && [403, 404, 410].contains(asked.response.status)
      && RequestedPause.limit(in: asked.response) == nil
  }

  /// Passes over a record that has no list, or whose list these credentials may not read.
  ///
  /// What is known of a list that may not be read stays as it is, and the next pass asks for it again.
  func barred(_ bookmark: RESTBookmark, _ asked: Asked) async throws(SyncError) -> RecordPage {
    guard asked.response.status == 403, let under = collection.under, let parent = bookmark.segment.parent
    else { return try await ended([], bookmark) }
    var bookmark = bookmark
    bookmark.candidate.start = bookmark.base?.start ?? .list
    var page = try await ended([], bookmark)
    session.notices.tell(
      "403 to the list of \(collection.entity.type) under \(parent)\(HTTPFailure.words(of: asked.response)). What is known of it stays."
    )
    page.present = try await stored(under).records(
      of: collection.entity.type, where: under.member, is: parent)
    return page
  }
}

extension RESTToken {
  /// The position of our own store from which the next delta starts; `nil` for another start.
  fileprivate var position: Int64? {
    if case .position(let position) = start { position } else { nil }
  }
}
