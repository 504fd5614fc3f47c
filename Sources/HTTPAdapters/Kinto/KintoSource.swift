public import SyncModels
public import SyncPorts

/// A bucket of a Kinto server as a remote: each record type is the collection of its name.
///
/// ```swift
/// let source = try KintoSource(
///   server: "https://settings.example.com/v1", bucket: "league", credentials: .bearer(token))
/// ```
///
/// Records are listed by ascending `last_modified`, so one that is edited between two pages moves to the end and is listed again, and comes
/// as its bytes are. A delta starts from the collection's `ETag` as the *first* page told it. It reaches back by
/// an overlap, for changes that become visible later than their time says, unless the server's own `Date` showed by a margin that
/// all such had become visible; only then is an unchanged collection answered by a 304.
///
/// What the server asks for is kept: after a `Backoff` or a `Retry-After`, nothing is sent until the time is up, and requests meanwhile fail with
/// `remoteUnavailable` and the time that is left, which the engine waits for. All types share that pause.
///
/// A collection that was flushed, or deleted and made anew, sends no tombstones. It is noticed, and reset, when its `ETag` went back
/// or when it holds fewer records than its tombstones explain; a flush that as many new records hide is only found by a full pass.
/// A record that was written with a `last_modified` in the past is in no delta either.
///
/// - Note: To somebody without the right to know, Kinto answers 403 for a bucket that does not exist as well: `permissionDenied` means either.
public final class KintoSource: RemoteRecordSource {
  /// Which server and bucket.
  public let identity: String
  /// Deltas by time, with tombstones, of collections that change while they are listed.
  public let capabilities: SourceCapabilities

  let server: KintoServer
  let options: Options
  private let pageSizes = PageSizes()

  /// How a server is asked.
  public struct Options: Hashable, Sendable {
    /// How far a delta reaches back: longer than the longest transaction of any writer.
    public var overlap: Duration = .seconds(5)
    /// How long a request may take.
    public var deadline: Duration = .seconds(60)
    /// How many bytes an answer's body may have.
    public var bodyLimit = 64 << 20
    /// Whether the records of a collection are counted, by one more request in each pass that finds a change: for totals, and
    /// to notice a flush.
    public var countsRecords = true
    /// Whether a collection that the bucket does not have counts as one without records, rather than as an error. For mirrors of a whole bucket: what
    /// was mirrored of a collection that was deleted goes by a sweep, which a guard may refuse.
    public var missingCollectionsAreEmpty = false
    /// Whether `http` is allowed, which shows records and credentials to everybody on the way.
    public var allowsPlainHTTP = false

    /// The usual way.
    public init() {}
  }

  /// Prepares to read a bucket; nothing is sent yet.
  ///
  /// - Parameters:
  ///   - server: The address of the server's API, its version included.
  ///   - credentials: Who we are, told to the server's origin alone.
  ///   - transport: What carries the requests. On Linux it defaults to a `CurlTransport` where CurlAdapters is imported.
  ///   - clock: What deadlines and pauses are measured by; the engine's.
  ///   - onAlert: Called with what the server wants its operators to know, each time that it says something else.
  /// - Throws: `invalidConfiguration` for an address that is none or is not encrypted, a bucket that cannot be one, credentials that fit
  ///   no header, or an overlap of zero or less.
  public init(
    server: String, bucket: String, credentials: HTTPCredentials? = nil, options: Options = Options(),
    transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
    onAlert: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SyncError) {
    let notices = ServerNotices(clock: clock, onAlert: onAlert)
    self.server = try KintoServer(
      server, bucket: bucket, credentials: credentials, options: options,
      transport: transport, clock: clock, notices: notices)
    self.options = options
    identity = "kinto:\(self.server.base)/buckets/\(bucket)"
    capabilities = SourceCapabilities(
      deltas: .modifiedSince(overlap: options.overlap), sendsTombstones: true, listing: .moving,
      supportsLookup: true, maximumPageSize: KintoServer.largestPage,
      serverManagedFields: KintoContent.serverManagedFields)
  }

  #if !canImport(FoundationNetworking)
    /// Prepares to read a bucket over `URLSession`; see ``init(server:bucket:credentials:options:transport:clock:onAlert:)``.
    public convenience init(
      server: String, bucket: String, credentials: HTTPCredentials? = nil, options: Options = Options(),
      clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
      onAlert: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SyncError) {
      try self.init(
        server: server, bucket: bucket, credentials: credentials, options: options,
        transport: URLSessionTransport(clock: clock), clock: clock, onAlert: onAlert)
    }
  #endif

  /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
  ///
  /// - Throws: `authentication` for 401; `permissionDenied` for 403; `invalidConfiguration` for a collection that does not exist and
  ///   other requests that the server does not understand; `remoteUnavailable`, with the pause that is asked for, for 429 and 5xx;
  ///   `invalidResponse` for an answer that is no page of Kinto's, and for a single record that is longer than ``Options/bodyLimit``: a page that
  ///   is, is asked for again with half as many records.
  public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let collection = try server.collection(request.entity.type)
    switch request.position {
    case .start(nil):
      return try await firstPage(request, of: collection, since: nil)
    case .start(let token?):
      guard let token = KintoToken(token) else { return Self.reset(.tokenExpired) }
      return try await firstPage(request, of: collection, since: token)
    case .resume(let token):
      guard let bookmark = KintoBookmark(token) else { return Self.reset(.pageTokenExpired) }
      return try await nextPage(request, of: collection, at: bookmark)
    }
  }

  private func firstPage(
    _ request: PageRequest, of collection: KintoCollection, since token: KintoToken?
  ) async throws(SyncError) -> RecordPage {
    let elapsed = server.clock.stopwatch()
    let response = try await pageSizes.fit(collection, request.limit) { (limit) throws(SyncError) in
      try await server.ask(
        "GET", collection.list(since: token?.since, limit: limit),
        headers: token?.isExact == true ? ["If-None-Match": "\"\(token?.etag ?? 0)\""] : [:],
        during: collection.operation)
    }
    if let token, response.status == 304 {
      return RecordPage(
        coverage: .changes, changes: [], startToken: token.syncToken, total: 0, next: .done(nil))
    }
    // Whoever wrote it, the server does not take this `_since`.
    if token != nil, response.status == 400 { return Self.reset(.tokenExpired) }
    if isMissing(collection, response) {
      guard token == nil else { return Self.reset(.remoteReplaced) }
      return RecordPage(coverage: .everything, changes: [], total: 0, next: .done(nil))
    }
    let answer = try KintoAnswer(response, of: collection)
    if let token, answer.etag < token.etag { return Self.reset(.remoteReplaced) }

    let isSettled = answer.isSettled(overlap: options.overlap, elapsed: elapsed())
    let listing = try KintoListing(answer.body, of: request.entity, collection, after: nil)
    var bookmark = KintoBookmark(
      coverage: token == nil ? .everything : .changes, etag: answer.etag, expected: token?.count)
    if token == nil, answer.nextPage == nil {
      bookmark.count = listing.changes.count
    } else if let token, token.etag == answer.etag {
      bookmark.count = token.count
    } else {
      bookmark.count = try await count(collection, at: answer.etag)
    }
    let next = KintoToken(
      etag: answer.etag, overlap: isSettled ? .zero : options.overlap, count: bookmark.count)
    var page = try self.page(listing, answer, bookmark, of: collection)
    page.startToken = next.syncToken
    if token == nil { page.total = bookmark.count }
    return page
  }

  private func nextPage(
    _ request: PageRequest, of collection: KintoCollection, at bookmark: KintoBookmark
  ) async throws(SyncError) -> RecordPage {
    let response = try await pageSizes.fit(collection, request.limit) { (limit) throws(SyncError) in
      try await server.ask(
        "GET", collection.list(query: bookmark.query, limit: limit), during: collection.operation)
    }
    if response.status == 400 || isMissing(collection, response) { return Self.reset(.pageTokenExpired) }
    let answer = try KintoAnswer(response, of: collection)
    if answer.etag < bookmark.etag { return Self.reset(.remoteReplaced) }
    let listing = try KintoListing(answer.body, of: request.entity, collection, after: bookmark.last)
    return try page(listing, answer, bookmark, of: collection)
  }

  /// Whether the answer says that there is no such collection, and the app takes that for one without records.
  func isMissing(_ collection: KintoCollection, _ response: HTTPResponse) -> Bool {
    options.missingCollectionsAreEmpty && KintoAnswer.saysMissing(collection, response)
  }

  /// Puts a page together, and what follows it.
  private func page(
    _ listing: KintoListing, _ answer: KintoAnswer, _ bookmark: KintoBookmark,
    of collection: KintoCollection
  ) throws(SyncError) -> RecordPage {
    var next = bookmark
    next.tombstones += listing.tombstones
    next.last = listing.last ?? bookmark.last
    guard let address = answer.nextPage else {
      // Whatever is gone since the count before has left a tombstone in this delta, unless nobody deleted it.
      if let count = next.count, let expected = next.expected, count + next.tombstones < expected {
        return Self.reset(.remoteReplaced)
      }
      return RecordPage(coverage: next.coverage, changes: listing.changes, next: .done(nil))
    }
    next.query = try collection.query(ofNextPage: address)
    guard !listing.changes.isEmpty, next.query != bookmark.query else {
      throw SyncError(
        .invalidResponse, during: collection.operation, "The server's next page leads nowhere.")
    }
    return RecordPage(
      coverage: next.coverage, changes: listing.changes, next: .more(next.pageToken, resumable: true))
  }

  /// How many records a collection holds in the state that an `ETag` names; `nil` if it is in another by now.
  private func count(_ collection: KintoCollection, at etag: Int64) async throws(SyncError) -> Int? {
    // A pause that came with the page must not cost the page.
    guard options.countsRecords, server.notices.remainingPause == nil else { return nil }
    let response = try await server.ask(
      "HEAD", collection.count, headers: ["If-Match": "\"\(etag)\""], during: collection.operation)
    guard ![404, 405, 412, 501].contains(response.status) else { return nil }
    let answer = try KintoAnswer(response, of: collection)
    return answer.etag == etag ? answer.total : nil
  }

  private static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .everything, changes: [], next: .reset(reason))
  }
}
