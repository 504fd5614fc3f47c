public import HTTPAdapters
public import SyncModels
public import SyncPorts

/// A remote in one bucket of a Kinto server: each record type is a collection.
///
/// ```swift
/// let source = try KintoSource(
///   server: "https://settings.example.com/v1", bucket: "league", credentials: .bearer(token),
///   transport: transport)
/// ```
///
/// The collection has the name of the type. Records are listed by ascending `last_modified`. A
/// record that is edited between two pages moves to the end and is listed again with its new
/// content. A delta starts from the collection's `ETag` in the *first* page. It reaches back by an
/// overlap, for changes that become visible later than their time says. If the server's own `Date`
/// showed by a margin that all such changes were visible, the delta does not reach back. Only then
/// does the server answer for an unchanged collection with a 304.
///
/// The source honours the server's pauses. After a `Backoff` or a `Retry-After`, nothing is sent
/// until the time is up. Requests meanwhile fail with `remoteUnavailable` and the remaining time,
/// and the engine waits for it. All types share that pause.
///
/// A collection that was flushed, or deleted and created again, sends no tombstones. The source
/// detects this when the `ETag` went back, or when the collection holds fewer records than its
/// tombstones explain, and resets the pass. If as many new records hide a flush, only a full pass
/// detects it. A record that was written with a `last_modified` in the past is in no delta either.
///
/// - Note: Kinto also answers 403 for a bucket that does not exist, if the credentials may not know
///   that. `permissionDenied` means either case.
public final class KintoSource: RemoteRecordSource {
  /// The server and the bucket.
  public let identity: String
  /// Deltas by time, with tombstones, of collections that change while they are listed.
  public let capabilities: SourceCapabilities

  let server: KintoServer
  let options: Options

  /// Settings for requests to a server.
  public struct Options: Hashable, Sendable {
    /// The overlap of a delta: longer than the longest transaction of any writer.
    public var overlap: Duration = .seconds(5)
    /// The longest time for a request.
    public var deadline: Duration = .seconds(60)
    /// The most bytes of an answer's body.
    public var bodyLimit = 64 << 20
    /// Whether a pass that finds a change counts the collection's records.
    ///
    /// The count takes one more request. It gives totals, and detects a flush.
    public var countsRecords = true
    /// Whether a collection that the bucket lacks counts as empty, rather than as an error.
    ///
    /// For mirrors of a whole bucket: after a collection was deleted, a sweep removes its mirrored
    /// records. A guard may refuse the sweep.
    public var missingCollectionsAreEmpty = false
    /// Whether `http` is allowed. It exposes records and credentials to every host on the way.
    public var allowsPlainHTTP = false

    /// Creates the default options.
    public init() {}
  }

  /// Creates a source for a bucket. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - server: The address of the server's API, its version included.
  ///   - bucket: The name of the bucket.
  ///   - credentials: Our credentials, sent to the server's origin alone.
  ///   - options: Limits and deadlines.
  ///   - transport: Carries the requests: on Linux a `CurlTransport` of CurlAdapters, elsewhere a
  ///     `URLSessionTransport` of HTTPAdapters.
  ///   - clock: Measures deadlines and pauses; the engine's clock.
  ///   - onAlert: Called with each new message of the server to its operators.
  /// - Throws: `invalidConfiguration` for an invalid or unencrypted address, an invalid bucket
  ///   name, credentials that no header can hold, or an overlap of zero or less.
  public init(
    server: String, bucket: String, credentials: HTTPCredentials? = nil, options: Options = Options(),
    transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
    onAlert: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SyncError) {
    self.server = try KintoServer(
      server, bucket: bucket, credentials: credentials, options: options,
      transport: transport, clock: clock, onAlert: onAlert)
    self.options = options
    identity = "kinto:\(self.server.session.base)/buckets/\(bucket)"
    capabilities = SourceCapabilities(
      deltas: .modifiedSince(overlap: options.overlap), sendsTombstones: true, listing: .moving,
      supportsLookup: true, maximumPageSize: KintoServer.largestPage,
      serverManagedFields: KintoContent.serverManagedFields)
  }

  /// Returns what tells the credentials from others: the user's name of basic ones. Nothing is sent.
  ///
  /// - Throws: `invalidConfiguration` for a secret that cannot be read.
  public func account() async throws(SyncError) -> RemoteAccount? {
    let credentials = try await server.session.fingerprints()
    return credentials.isEmpty ? nil : .credentials(credentials)
  }

  /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
  ///
  /// A page that is longer than ``Options/bodyLimit`` is requested again with half as many records.
  ///
  /// - Throws: `authentication` for 401; `permissionDenied` for 403; `invalidConfiguration` for a
  ///   collection that does not exist and for other requests that the server does not understand;
  ///   `remoteUnavailable`, with the requested pause, for 429 and 5xx; `invalidResponse` for an
  ///   answer that is not a Kinto page, and for a single record longer than ``Options/bodyLimit``.
  public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let collection = try server.collection(request.entity.type)
    switch request.position {
    case .start(nil):
      return try await firstPage(request, of: collection, since: nil)
    case .start(let token?):
      guard let token = KintoToken(token) else { return .reset(.tokenExpired) }
      return try await firstPage(request, of: collection, since: token)
    case .resume(let token):
      guard let bookmark = KintoBookmark(token) else { return .reset(.pageTokenExpired) }
      return try await nextPage(request, of: collection, at: bookmark)
    }
  }

  private func firstPage(
    _ request: PageRequest, of collection: KintoCollection, since token: KintoToken?
  ) async throws(SyncError) -> RecordPage {
    let elapsed = server.session.clock.stopwatch()
    let response = try await server.session.pageSizes.fit(request.entity.type, request.limit) {
      (limit) throws(SyncError) in
      try await server.session.send(
        "GET", collection.list(since: token?.since, limit: limit),
        headers: token?.isExact == true ? ["If-None-Match": "\"\(token?.etag ?? 0)\""] : [:],
        mayBeCompressed: true, during: collection.operation)
    }
    if let token, response.status == 304 {
      return RecordPage(
        coverage: .delta, changes: [], startToken: token.syncToken, total: 0, next: .done(nil))
    }
    // The server rejects this `_since`, whatever program wrote it.
    if token != nil, response.status == 400 {
      // A service of SyncServing says why.
      return .reset(response.headers["Listing-Void"] == "rights" ? .selectionChanged : .tokenExpired)
    }
    if isMissing(collection, response) {
      guard token == nil else { return .reset(.remoteReplaced) }
      return RecordPage(coverage: .full, changes: [], total: 0, next: .done(nil))
    }
    let answer = try KintoAnswer(response, of: collection)
    if let token, answer.etag < token.etag { return .reset(.remoteReplaced) }

    let isSettled = answer.isSettled(overlap: options.overlap, elapsed: elapsed())
    let listing = try KintoListing(answer.body, of: request.entity, collection, after: nil)
    var bookmark = KintoBookmark(
      coverage: token == nil ? .full : .delta, etag: answer.etag, expected: token?.count)
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
    let response = try await server.session.pageSizes.fit(request.entity.type, request.limit) {
      (limit) throws(SyncError) in
      try await server.session.send(
        "GET", collection.list(query: bookmark.query, limit: limit), mayBeCompressed: true,
        during: collection.operation)
    }
    if response.status == 400 || isMissing(collection, response) { return .reset(.pageTokenExpired) }
    let answer = try KintoAnswer(response, of: collection)
    if answer.etag < bookmark.etag { return .reset(.remoteReplaced) }
    let listing = try KintoListing(answer.body, of: request.entity, collection, after: bookmark.last)
    return try page(listing, answer, bookmark, of: collection)
  }

  /// Whether the collection does not exist and the app treats that as an empty one.
  func isMissing(_ collection: KintoCollection, _ response: HTTPResponse) -> Bool {
    options.missingCollectionsAreEmpty && KintoAnswer.saysMissing(collection, response)
  }

  /// Assembles a page and its continuation.
  private func page(
    _ listing: KintoListing, _ answer: KintoAnswer, _ bookmark: KintoBookmark,
    of collection: KintoCollection
  ) throws(SyncError) -> RecordPage {
    var next = bookmark
    next.tombstones += listing.tombstones
    next.last = listing.last ?? bookmark.last
    guard let address = answer.nextPage else {
      // Every record that is gone since the previous count has left a tombstone in this delta,
      // unless the collection was flushed.
      if let count = next.count, let expected = next.expected, count + next.tombstones < expected {
        return .reset(.remoteReplaced)
      }
      return RecordPage(coverage: next.coverage, changes: listing.changes, next: .done(nil))
    }
    next.query = try collection.query(ofNextPage: address)
    guard !listing.changes.isEmpty, next.query != bookmark.query else {
      throw SyncError(
        .invalidResponse, during: collection.operation, "The server's next page makes no progress.")
    }
    return RecordPage(
      coverage: next.coverage, changes: listing.changes, next: .more(next.pageToken, resumable: true))
  }

  /// The number of records in the collection's state at an `ETag`.
  ///
  /// `nil` if the collection is in another state by now.
  private func count(_ collection: KintoCollection, at etag: Int64) async throws(SyncError) -> Int? {
    // A pause that came with the page must not cost the page.
    guard options.countsRecords, server.session.notices.remainingPause == nil else { return nil }
    let response = try await server.session.send(
      "HEAD", collection.count, headers: ["If-Match": "\"\(etag)\""], during: collection.operation)
    guard ![404, 405, 412, 501].contains(response.status) else { return nil }
    let answer = try KintoAnswer(response, of: collection)
    return answer.etag == etag ? answer.total : nil
  }
}

extension KintoSource {
  /// The number of records in one request, so that every proxy accepts the address.
  private static let lookupSize = 40

  /// Returns the current copies of those records that exist.
  ///
  /// - Throws: The errors of ``page(_:)``.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let collection = try server.collection(entity.type)
    var changes: [RecordChange] = []
    let listable = ids.filter { KintoCollection.canBeListed($0.key) }
    var rest = listable[...]
    while !rest.isEmpty {
      let keys = rest.prefix(Self.lookupSize).map(\.key)
      rest = rest.dropFirst(keys.count)
      var query = KintoCollection.query(forKeys: keys)
      // A server may return fewer records than requested.
      for _ in keys {
        let response = try await server.session.send(
          "GET", collection.list(query: query, limit: Self.lookupSize), mayBeCompressed: true,
          during: collection.operation)
        if isMissing(collection, response) { return [] }
        let answer = try KintoAnswer(response, of: collection)
        changes += try KintoListing(answer.body, of: entity, collection, after: nil).changes
        guard let next = answer.nextPage else { break }
        query = try collection.query(ofNextPage: next)
      }
    }
    for id in ids where !KintoCollection.canBeListed(id.key) {
      let response = try await server.session.send(
        "GET", collection.record(id.key), during: collection.operation)
      if isMissing(collection, response) { return [] }
      if KintoAnswer.saysNoRecord(response) { continue }
      let answer = try KintoAnswer(response, of: collection)
      changes += try KintoListing(record: answer.body, of: entity, collection).changes
    }
    let wanted = Set(ids)
    return changes.filter { $0.id.map(wanted.contains) == true }
  }
}

extension KintoSource {
  /// The names of the bucket's collections that these credentials may see.
  ///
  /// - Throws: The errors of ``page(_:)``.
  public func collections() async throws(SyncError) -> [RecordType] {
    let collections = server.collections
    var names: Set<RecordType> = []
    var query = collections.list(since: nil, limit: KintoServer.largestPage).query ?? ""
    var place: KintoBookmark.Place?
    while true {
      let response = try await server.session.send(
        "GET", collections.list(query: query, limit: KintoServer.largestPage), during: collections.operation)
      let answer = try KintoAnswer(response, of: collections)
      let listing = try KintoListing(
        answer.body, of: Entity(collections.type), collections, after: place)
      for case .upsert(let record) in listing.changes { names.insert(RecordType(record.id.key)) }
      guard let next = answer.nextPage else { break }
      let following = try collections.query(ofNextPage: next)
      guard following != query, !listing.changes.isEmpty else {
        throw SyncError(
          .invalidResponse, during: collections.operation, "The server's next page makes no progress.")
      }
      (query, place) = (following, listing.last)
    }
    return names.sorted { $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8) }
  }
}
