import SyncModels
import SyncPorts

/// One page of a listing: the request, the answer, and what follows.
struct RESTListing: Sendable {
  let requests: RESTRequests
  let request: PageRequest
  let session: HTTPSession
  /// Whether a record that a listing lacks must be missing from a second one.
  let needsTwoListings: Bool
  /// The types whose last listing ended before its total.
  let shortfalls: Shortfalls
  private let reader: RESTRecordReader

  init(
    requests: RESTRequests, _ request: PageRequest, session: HTTPSession, needsTwoListings: Bool,
    shortfalls: Shortfalls = Shortfalls()
  ) {
    self.shortfalls = shortfalls
    self.needsTwoListings = needsTwoListings
    self.requests = requests
    self.request = request
    self.session = session
    reader = RESTRecordReader(requests.collection, as: request.entity)
  }

  var collection: RESTAPI.Collection { requests.collection }
  var operation: String { requests.operation }
  private var pagination: RESTPagination { RESTPagination(requests: requests) }

  // MARK: Pages

  /// How long after a pass its successor may ask for changes alone.
  ///
  /// Servers forget after some weeks which records were deleted.
  private static let longestSilence = Duration.seconds(28 * 86_400)

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
    case (.since, .since), (.token, .token), (.token, .next): return try await first(since: token)
    case (.position, nil) where collection.under?.followsChanges == true:
      return try await first(since: token)
    default: return .reset(.tokenExpired)
    }
  }

  private func isSweepDue(_ token: RESTToken) -> Bool {
    guard let interval = collection.sweepInterval else { return false }
    let now = session.clock.timestamp
    // A time in the future was stamped by a wrong clock.
    return token.listedAt > now || now >= token.listedAt + interval
  }

  /// The statuses by which a server refuses a token or a span.
  private static let refusals = [400, 404, 410, 422]

  private func first(
    since base: RESTToken?, confirming pages: [RESTToken.Page] = []
  ) async throws(SyncError) -> RecordPage {
    let listedAt = base?.listedAt ?? session.clock.timestamp
    if let under = collection.under { return try await first(under, since: base, listedAt: listedAt) }
    let elapsed = session.clock.stopwatch()
    var segment = RESTSegment()
    var now: Timestamp?
    if let window = collection.window, case .since(_, _, let overlap, _) = collection.delta {
      segment.from = window.start
      if case .since(let began)? = base?.start { segment.from = began - overlap }
      now = try await serverTime(window, in: segment)
      if case .since(let began)? = base?.start, let now, now + overlap < began {
        return .reset(.tokenExpired)
      }
    }
    let asked = try await ask { [segment, now] limit in
      requests.first(base, limit: limit, in: segment, until: now)
    }
    // The server no longer takes this token, whatever program wrote it.
    if base != nil, Self.refusals.contains(asked.response.status) {
      if asked.response.status != 410 {
        session.notices.tell(
          "\(asked.response.status) to a request for changes (\(collection.place("delta")))\(HTTPFailure.words(of: asked.response)). Everything is listed instead."
        )
      }
      return .reset(.tokenExpired)
    }
    let answer = try RESTAnswer(asked.response, of: collection, during: operation)
    return try await first(
      answer, asked, since: base, listedAt: listedAt, elapsed: elapsed(), segment, now: now,
      confirming: pages)
  }

  func first(
    _ answer: RESTAnswer, _ asked: Asked, since base: RESTToken?, listedAt: Timestamp, elapsed: Duration,
    _ segment: RESTSegment = RESTSegment(), now began: Timestamp? = nil,
    confirming pages: [RESTToken.Page] = []
  ) async throws(SyncError) -> RecordPage {
    var candidate = RESTToken(.list, listedAt: listedAt)
    switch collection.delta {
    case .since(_, _, let overlap, _):
      let now =
        if let began { began } else {
          try answer.serverTime(elapsed: elapsed, of: collection, during: operation)
        }
      if case .since(let before)? = base?.start,
        now + overlap < before || collection.deleted != nil && before + Self.longestSilence < now
      {
        return .reset(.tokenExpired)
      }
      candidate.start = .since(began == nil ? now - answer.staleness : now)
    case .token, .next:
      if let token = try token(in: answer, asked) { candidate.start = .token(token) }
    case .etag: candidate.start = .pages([])
    case nil: break
    }
    var bookmark = RESTBookmark(
      coverage: base == nil ? .full : .delta, base: base, candidate: candidate)
    bookmark.segment = segment
    if collection.delta == .etag {
      bookmark.tagged = []
      bookmark.confirms = pages.isEmpty ? nil : RESTToken.digest(of: pages)
    }
    var page = try await self.page(answer, asked, bookmark)
    if page.startToken == nil, candidate.start != .list, candidate.start != .pages([]) {
      page.startToken = doubted(page.next, candidate).syncToken
    }
    let isWhole = collection.each == nil && collection.under == nil && segment.from == nil
    if isWhole, base == nil || answer.rows.isEmpty { page.total = answer.total }
    return page
  }

  /// Returns the page after another one.
  func next(at bookmark: RESTBookmark) async throws(SyncError) -> RecordPage {
    if let page = try await unchanged(at: bookmark) { return page }
    let asked = try await ask { limit in pagination.request(at: bookmark, atMost: limit) }
    if isBarred(asked) { return try await barred(bookmark, asked) }
    // Where the server gives fewer records than are asked for, only pages of one size have the same numbers.
    if case .page = collection.paging, case .rows(let rows) = bookmark.place, bookmark.rows < rows,
      rows != bookmark.pages * asked.limit
    {
      return .reset(.pageTokenExpired)
    }
    switch asked.response.status {
    // The first page of a list has no place that the server may have forgotten.
    case _ where bookmark.pages == 0: break
    // Past the last page.
    case 404 where collection.countsPages:
      if !HTTPFailure.beginning(of: asked.response).isEmpty, !isComplete(bookmark, asked) {
        session.notices.tell("\(refusal(bookmark, asked.response).message) The list ends there.")
      }
      var bookmark = bookmark
      tagEnd(asked, &bookmark)
      return try await ended([], bookmark)
    // The page before was the last one, as it was short or completed the total.
    case 400 where isComplete(bookmark, asked), 422 where isComplete(bookmark, asked):
      tellOfCap(bookmark, asked.response)
      return try await ended([], bookmark)
    case 400 where isRecent(bookmark), 422 where isRecent(bookmark): throw refusal(bookmark, asked.response)
    case 400, 404, 410, 422: return .reset(.pageTokenExpired)
    // The page before has named this one, and only a body says what follows.
    case 204 where collection.namesNextInBody && bookmark.total.map { bookmark.rows < $0 } ?? true:
      var error = refusal(bookmark, asked.response)
      error.code = .invalidResponse
      throw error
    default: break
    }
    let answer = try RESTAnswer(asked.response, of: collection, during: operation)
    var before = bookmark
    if case .since(let began) = bookmark.candidate.start,
      case .since(_, _, let overlap, _) = collection.delta
    {
      let now = try answer.serverTime(elapsed: .zero, of: collection, during: operation)
      // The server's clock went back, so its times no longer tell what is new.
      if now + overlap < began { return .reset(.tokenExpired) }
      if collection.window == nil { before.candidate.start = .since(min(began, now - answer.staleness)) }
    }
    return try await page(answer, asked, before)
  }

  /// Whether counted pages have ended before this one.
  private func isComplete(_ bookmark: RESTBookmark, _ asked: Asked) -> Bool {
    guard collection.countsPages else { return false }
    if let total = bookmark.total { return bookmark.rows >= total }
    return collection.pageSize != nil && bookmark.ends.map { $0.count < asked.limit } ?? true
  }

  /// Tells of a list that ends at a round number.
  ///
  /// A search engine counts up to its limit, and refuses to lead further.
  private func tellOfCap(_ bookmark: RESTBookmark, _ response: HTTPResponse) {
    guard let total = bookmark.total, total > 0, total.isMultiple(of: 1000) else { return }
    session.notices.tell(
      "\(refusal(bookmark, response).message) Does \(collection.place("total")) count no further?")
  }

  /// Whether a place of the listing is too new to have expired.
  private func isRecent(_ bookmark: RESTBookmark) -> Bool {
    let age = session.clock.timestamp.duration(since: bookmark.candidate.listedAt)
    return bookmark.coverage == .full && (.zero ..< .seconds(600)).contains(age)
  }

  /// The error of a server that refuses to lead on.
  private func refusal(_ bookmark: RESTBookmark, _ response: HTTPResponse) -> SyncError {
    let place = "after \(bookmark.rows)\(bookmark.total.map { " of \($0)" } ?? "") records"
    return SyncError(
      .inconsistentData, during: operation,
      "The server answered \(response.status) to the request for the page \(place)\(HTTPFailure.words(of: response))."
    )
  }

  // MARK: Requests

  /// An answer to a request with a number of records.
  struct Asked: Sendable {
    var response: HTTPResponse
    var limit: Int
    var address: HTTPAddress
    /// Where the answer came from, perhaps after redirects. Relative links are as seen from there.
    var origin: HTTPAddress { response.address ?? address }
  }

  /// Requests a page, with half as many records each time the answer is too long.
  func ask(
    headers: HTTPHeaders = [:], _ address: (Int) -> RESTRequests.Call
  ) async throws(SyncError) -> Asked {
    var headers = try await requests.headers(headers)
    // A cache on the way may be older than the changes that a token stands for.
    headers["Cache-Control"] = "no-cache"
    if collection.request != nil { headers["Content-Type"] = "application/json" }
    var call = address(requests.size(request.limit))
    guard collection.pageSize != nil else {
      let response = try await send(call, headers)
      return Asked(response: response, limit: call.limit, address: call.address)
    }
    let response = try await session.pageSizes.fit(request.entity.type, requests.size(request.limit)) {
      (limit) throws(SyncError) in
      call = address(limit)
      return try await send(call, headers)
    }
    return Asked(response: response, limit: call.limit, address: call.address)
  }

  private func send(
    _ call: RESTRequests.Call, _ headers: HTTPHeaders
  ) async throws(SyncError) -> HTTPResponse {
    try await session.send(
      collection.request?.method ?? "GET", call.address, headers: headers, body: call.body,
      repeatsSafely: true, mayBeCompressed: true, during: operation)
  }

  // MARK: What an answer means

  /// Assembles a page and its continuation.
  private func page(
    _ answer: RESTAnswer, _ asked: Asked, _ before: RESTBookmark
  ) async throws(SyncError) -> RecordPage {
    // Other servers name the next day or chapter so, which is another list.
    let next = asked.response.headers["Link"].flatMap { LinkHeader.target(of: "next", in: $0) }
    let leadsOn = next.flatMap { asked.origin.resolving($0)?.path } == asked.origin.path
    if collection.paging == nil, leadsOn || asked.response.status == 206 {
      throw SyncError(
        .inconsistentData, during: operation,
        "The server answered \(asked.response.status)\(leadsOn ? " with a link to the next page" : ""), so this is a part of the list, and \(collection.place("paging")) is not described."
      )
    }
    var bookmark = before
    var reader = reader
    reader.parent = before.segment.parent
    reader.latest = (answer.date ?? session.clock.timestamp) + RESTRecordReader.longestLead
    var changes = answer.rows.map(reader.read)
    for (index, row) in answer.mended { changes[index] = reader.named(changes[index], by: row) }
    tellOfVersionsAhead(changes, answer.rows, reader)
    let parts = before.coverage == .delta ? try await complete(&changes, answer.rows) : []
    var isSelected = zip(changes, answer.rows).enumerated().map { index, pair in
      guard parts.contains(index) else { return collection.filter?.selects(pair.1) ?? true }
      // The row of a part lacks the member that selects.
      guard case .upsert(let whole) = pair.0 else { return true }
      return collection.filter?.selects(whole.payload.bytes) ?? true
    }
    if before.pages == 0, before.coverage == .full {
      try refuseUnreadable(
        zip(answer.rows, isSelected).filter(\.1).map(\.0), zip(changes, isSelected).filter(\.1).map(\.0))
    }
    if before.pages == 0, answer.leadsNowhere {
      session.notices.tell(
        "\(collection.records) (\(collection.place("records"))) leads to nothing in any element of the list.")
    }
    let isOverlapping = pagination.overlaps(before, limit: asked.limit)
    try pagination.compare(
      RESTBookmark.Ends(changes, answer.rows), isOverlapping: isOverlapping, &bookmark)
    if isOverlapping {
      if RESTBookmark.Ends.name(of: changes.first, answer.rows.first) == before.ends?.last {
        changes.removeFirst()
        isSelected.removeFirst()
      } else {
        bookmark.hasMoved = true
      }
      bookmark.rows -= 1
    } else if case .offset = collection.paging, before.pages > 0 {
      bookmark.isShifting = true
    }
    if let each = collection.each,
      let key = shortfalls.other(changes, answer.rows, list: before.segment.each, of: request)
    {
      session.notices.tell(
        "\(key) is the key of different records in several lists of \(each.parameter) (\(collection.place("each"))), which are one record here."
      )
    }
    if before.pages == 0 { bookmark.total = answer.total }
    // Whether links count is known after the first page.
    let isCounted = collection.countsPages || before.isShifting || before.pages == 0
    if answer.total != nil || isCounted && before.coverage == .full {
      let keys = changes.compactMap { $0.id?.key }
      bookmark.repeated += shortfalls.repeats(of: keys, page: bookmark.pages, of: request)
    }
    bookmark.pages += 1
    bookmark.rows += answer.rows.count
    if let token = try token(in: answer, asked), bookmark.candidate.start == .list || collection.cursorIsToken
    {
      bookmark.candidate.start = .token(token)
    }
    if let total = answer.total, let first = before.total, total != first { bookmark.hasMoved = true }
    tag(answer, asked, &bookmark)
    let place = try pagination.place(after: answer, fresh: changes.count, to: asked, &bookmark)
    if collection.filter != nil { changes = selected(changes, isSelected, in: before.coverage) }
    guard let place else { return try await ended(changes, bookmark) }
    if case .target(let target) = place,
      requests.address(target).counts(from: asked.address, rows: answer.rows.count)
    {
      bookmark.isShifting = true
    }
    bookmark.place = place
    return RecordPage(
      coverage: bookmark.coverage, changes: changes, next: .more(bookmark.pageToken, resumable: true))
  }

  /// The server's time before the first span; `nil` if it refuses the span.
  private func serverTime(_ window: RESTAPI.Window, in segment: RESTSegment) async throws(SyncError)
    -> Timestamp?
  {
    if case .since(_, _, _, nil) = collection.delta {
      let response = try await session.send(
        "HEAD", requests.collection(collection.path),
        headers: try await requests.headers(["Cache-Control": "no-cache"]), during: operation)
      if let date = response.headers["Date"].flatMap(HTTPDate.timestamp) {
        return date - RESTAnswer.age(of: response)
      }
    }
    // Only a list tells it.
    let elapsed = session.clock.stopwatch()
    let asked = try await ask { limit in
      requests.first(nil, limit: limit, in: segment, until: segment.from.map { $0 + window.length })
    }
    // The request for the first span tells what that means.
    if Self.refusals.contains(asked.response.status) { return nil }
    return try RESTAnswer(asked.response, of: collection, during: operation)
      .serverTime(elapsed: elapsed(), of: collection, during: operation)
  }

  /// The token of later changes in an answer, or the target of the address that tells them.
  private func token(in answer: RESTAnswer, _ asked: Asked) throws(SyncError) -> String? {
    guard let text = answer.token, case .next = collection.delta else { return answer.token }
    return try pagination.target(of: text, at: collection.place("delta.next"), from: asked.origin)
  }
}
