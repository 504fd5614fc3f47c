import SyncModels
import SyncPorts

/// One page of a listing: the request, the answer, and what follows.
struct RESTListing: Sendable {
  let requests: RESTRequests
  let request: PageRequest
  let session: HTTPSession
  /// Whether a record that a listing lacks must be missing from a second one.
  let needsTwoListings: Bool
  private let reader: RESTRecordReader

  init(
    requests: RESTRequests, _ request: PageRequest, session: HTTPSession, needsTwoListings: Bool
  ) {
    self.needsTwoListings = needsTwoListings
    self.requests = requests
    self.request = request
    self.session = session
    reader = RESTRecordReader(requests.collection, as: request.entity)
  }

  var collection: RESTAPI.Collection { requests.collection }
  var operation: String { requests.operation }
  private var pagination: RESTPagination { RESTPagination(requests: requests) }

  static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .everything, changes: [], next: .reset(reason))
  }

  // MARK: Pages

  /// Returns the first page of the changes since a token, or of everything.
  func start(since token: RESTToken?) async throws(SyncError) -> RecordPage {
    guard let token else { return try await first(since: nil) }
    if case .pages(let pages) = token.start {
      // What the last listing lacked is gone if a second one lacks it too.
      if pages.isEmpty || token.relists { return try await first(since: nil, confirming: pages) }
      return try await walk(RESTTagWalk(token, at: 0))
    }
    if token.start == .list || token.relists || isSweepDue(token) { return try await first(since: nil) }
    switch (token.start, collection.delta) {
    case (.since, .since), (.token, .token): return try await first(since: token)
    default: return Self.reset(.tokenExpired)
    }
  }

  private func isSweepDue(_ token: RESTToken) -> Bool {
    guard let interval = collection.sweepInterval else { return false }
    let now = session.clock.timestamp
    // A time in the future was stamped by a wrong clock.
    return token.listedAt > now || now >= token.listedAt + interval
  }

  private func first(
    since base: RESTToken?, confirming pages: [RESTToken.Page] = []
  ) async throws(SyncError) -> RecordPage {
    let listedAt = base?.listedAt ?? session.clock.timestamp
    let elapsed = session.clock.stopwatch()
    let asked = try await ask { limit in (limit, requests.first(base, limit: limit)) }
    // The server no longer takes this token, whatever program wrote it.
    if base != nil, [400, 404, 410, 422].contains(asked.response.status) { return Self.reset(.tokenExpired) }
    let answer = try RESTAnswer(asked.response, of: collection, during: operation)
    return try await first(
      answer, asked, since: base, listedAt: listedAt, elapsed: elapsed(), confirming: pages)
  }

  func first(
    _ answer: RESTAnswer, _ asked: Asked, since base: RESTToken?, listedAt: Timestamp, elapsed: Duration,
    confirming pages: [RESTToken.Page] = []
  ) async throws(SyncError) -> RecordPage {
    var candidate = RESTToken(.list, listedAt: listedAt)
    switch collection.delta {
    case .since(_, _, let overlap, _):
      let now = try answer.serverTime(elapsed: elapsed, of: collection, during: operation)
      if case .since(let before)? = base?.start, now + overlap < before { return Self.reset(.tokenExpired) }
      candidate.start = .since(now)
    case .token: if let token = answer.token { candidate.start = .token(token) }
    case .etag: candidate.start = .pages([])
    case nil: break
    }
    var bookmark = RESTBookmark(
      coverage: base == nil ? .everything : .changes, base: base, candidate: candidate)
    bookmark.total = answer.total
    if collection.delta == .etag {
      bookmark.tagged = []
      bookmark.confirms = pages.isEmpty ? nil : RESTToken.digest(of: pages)
    }
    var page = try await self.page(answer, asked, bookmark)
    if page.startToken == nil, candidate.start != .list, candidate.start != .pages([]) {
      page.startToken = doubted(page.next, candidate).syncToken
    }
    if base == nil || answer.rows.isEmpty { page.total = answer.total }
    return page
  }

  /// Returns the page after another one.
  func next(at bookmark: RESTBookmark) async throws(SyncError) -> RecordPage {
    let asked = try await ask { limit in pagination.request(at: bookmark, atMost: limit) }
    switch asked.response.status {
    // Past the last page.
    case 404 where collection.countsPages:
      var bookmark = bookmark
      noteEnd(asked, &bookmark)
      return try await finished([], bookmark, asked)
    case 400, 404, 410, 422: return Self.reset(.pageTokenExpired)
    default: break
    }
    let answer = try RESTAnswer(asked.response, of: collection, during: operation)
    if case .since(let began) = bookmark.candidate.start,
      case .since(_, _, let overlap, _) = collection.delta,
      try answer.serverTime(elapsed: .zero, of: collection, during: operation) + overlap < began
    {
      // The server's clock went back, so its times no longer tell what is new.
      return Self.reset(.tokenExpired)
    }
    return try await page(answer, asked, bookmark)
  }

  // MARK: Requests

  /// An answer to a request with a number of records.
  struct Asked: Sendable {
    var response: HTTPResponse
    var limit: Int
    var address: HTTPAddress
  }

  /// Requests a page, with half as many records each time the answer is too long.
  func ask(
    headers: HTTPHeaders = [:], _ address: (Int) -> (limit: Int, address: HTTPAddress)
  ) async throws(SyncError) -> Asked {
    var headers = headers
    // A cache on the way may be older than the changes that a token stands for.
    headers["Cache-Control"] = "no-cache"
    var asked: (limit: Int, address: HTTPAddress) = address(requests.size(request.limit))
    guard collection.pageSize != nil else {
      let response = try await session.send("GET", asked.address, headers: headers, during: operation)
      return Asked(response: response, limit: asked.limit, address: asked.address)
    }
    let response = try await session.pageSizes.fit(request.entity.type, requests.size(request.limit)) {
      (limit) throws(SyncError) in
      asked = address(limit)
      return try await session.send("GET", asked.address, headers: headers, during: operation)
    }
    return Asked(response: response, limit: asked.limit, address: asked.address)
  }

  // MARK: What an answer means

  /// Assembles a page and its continuation.
  private func page(
    _ answer: RESTAnswer, _ asked: Asked, _ before: RESTBookmark
  ) async throws(SyncError) -> RecordPage {
    var bookmark = before
    var changes = answer.rows.map(reader.read)
    if before.pages == 0, before.coverage == .everything { try refuseUnreadable(answer.rows, changes) }
    let isOverlapping = pagination.overlaps(before, limit: asked.limit)
    try pagination.note(
      RESTBookmark.Ends(changes, answer.rows), isOverlapping: isOverlapping, &bookmark)
    if isOverlapping {
      if RESTBookmark.Ends.name(of: changes.first, answer.rows.first) == before.ends?.last {
        changes.removeFirst()
      } else {
        bookmark.hasMoved = true
      }
      bookmark.rows -= 1
    } else if case .offset = collection.paging, before.pages > 0 {
      bookmark.isShifting = true
    }
    bookmark.pages += 1
    bookmark.rows += answer.rows.count
    if let token = answer.token, bookmark.candidate.start == .list {
      bookmark.candidate.start = .token(token)
    }
    if let total = answer.total, let first = before.total, total != first { bookmark.hasMoved = true }
    note(answer, asked, &bookmark)
    guard let place = try pagination.place(after: answer, fresh: changes.count, to: asked, &bookmark) else {
      return try await finished(changes, bookmark, asked)
    }
    if case .target(let target) = place,
      requests.address(target).counts(from: asked.address, rows: answer.rows.count)
    {
      bookmark.isShifting = true
    }
    bookmark.place = place
    return RecordPage(
      coverage: bookmark.coverage, changes: changes, next: .more(bookmark.pageToken, resumable: true))
  }

  /// Refuses a first page in which a pointer leads to nothing in every record.
  ///
  /// The pointer is wrong then. On later pages, malformed records come in their places.
  private func refuseUnreadable(
    _ rows: [ArraySlice<UInt8>], _ changes: [RecordChange]
  ) throws(SyncError) {
    guard rows.count > 1 else { return }
    if changes.allSatisfy({ if case .malformed = $0 { true } else { false } }),
      case .malformed(let first)? = changes.first
    {
      throw SyncError(
        .inconsistentData, during: operation,
        "None of \(Counted(rows.count, "record")) can be read. In the first one, \(first.reason).")
    }
    if let version = collection.version, rows.allSatisfy({ RESTRecordReader.lacks(version, $0) }) {
      throw SyncError(
        .inconsistentData, during: operation,
        "\(version) (\(collection.place("version"))) leads to nothing in any of \(Counted(rows.count, "record"))."
      )
    }
  }
}

extension RESTBookmark.Ends {
  /// The name of an end: the key, or what stands for the bytes of a record without a key.
  fileprivate static func name(of change: RecordChange?, _ row: ArraySlice<UInt8>?) -> String? {
    change?.id?.key ?? row.map { namelessPrefix + RESTFields.digest(of: $0) }
  }

  /// The ends of a page; `nil` if the page is empty.
  fileprivate init?(_ changes: [RecordChange], _ rows: [ArraySlice<UInt8>]) {
    guard let first = Self.name(of: changes.first, rows.first),
      let last = Self.name(of: changes.last, rows.last)
    else { return nil }
    let content = [rows.first, rows.last].compactMap(\.self).joined()
    self.init(
      first: first, last: last, count: changes.count, content: RESTFields.digest(of: content))
  }
}
