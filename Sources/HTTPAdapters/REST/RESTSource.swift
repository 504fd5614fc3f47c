import SyncJSON
public import SyncModels
public import SyncPorts
import Synchronization

/// A remote in any JSON API that a ``RESTAPI`` describes.
///
/// ```swift
/// let api = try RESTAPI(json: bytes, named: "api.json")
/// let source = try RESTSource(api, transport: transport)
/// let engine = try await SyncEngine(schema: api.schema, store: store, source: source)
/// ```
///
/// What a mirror can promise depends on the API:
///
/// - **Pages.** Cursors and links are trusted to show each record that exists all the time. Page
///   numbers, offsets, and links that count pages shift when a record comes or goes between two
///   pages. The source detects that: offsets overlap by a record, totals are compared, and at the
///   end a delta must show that nothing changed. If something did, the next sync lists everything
///   again, so that a mirror is equal once writes stop.
/// - **Deletions.** A mark in the record (``RESTAPI/Collection/deleted``) is shown by deltas.
///   Otherwise a complete listing finds them, every ``RESTAPI/Collection/sweepEvery``; a record
///   that it lacks is looked up, or must be lacking twice.
/// - **Times.** A delta starts from the server's own time when the pass began, less an overlap. If
///   the server's clock went back, everything is listed.
/// - **Tags.** With ``RESTAPI/Delta/etag``, each page of the last listing is asked for on the
///   condition that it has changed. The first one that has leads to a complete listing.
///
/// After a `Backoff` or a `Retry-After`, nothing is sent until the time is up. Redirects are
/// followed within the origin alone, and a next page at another one is refused. Plain `http` is
/// refused, except to this machine.
public final class RESTSource: RemoteRecordSource {
  /// The base of the API.
  public let identity: String
  /// What all collections together can promise; see ``capabilities(of:)``.
  public let capabilities: SourceCapabilities
  /// The description.
  public let api: RESTAPI

  let session: HTTPSession
  private let collections: [RecordType: RESTAPI.Collection]
  private let capabilitiesByType: [RecordType: SourceCapabilities]
  private let shortfalls = Shortfalls()
  private let lookups = Mutex<[RecordType: Lookup]>([:])
  /// The account, and the fingerprint of the credentials that have asked for it.
  private let owner = Mutex<(name: String, credentials: String?)?>(nil)

  /// Settings for requests to an API.
  public struct Options: Hashable, Sendable {
    /// The longest time for a request.
    public var deadline: Duration = .seconds(60)
    /// The most bytes of an answer's body.
    public var bodyLimit = 64 << 20
    /// Whether `http` to other machines is allowed.
    ///
    /// It exposes records and credentials to every host on the way.
    public var allowsPlainHTTP = false
    /// The app's own words in each `User-Agent`, before those of this library; `nil` for none.
    public var userAgent: String?

    /// Creates the default options.
    public init() {}
  }

  /// Creates a source. Nothing is sent yet.
  ///
  /// - Parameters:
  ///   - api: The description of the API.
  ///   - options: Limits and deadlines.
  ///   - transport: Carries the requests. On Linux, use a `CurlTransport` of CurlAdapters.
  ///   - clock: Measures deadlines and pauses; the engine's clock.
  ///   - onAlert: Called with each new message for operators: of the server, or that it refuses
  ///     requests for changes, so that each sync lists everything.
  /// - Throws: `invalidConfiguration` for a description that is not valid, with the wrong member,
  ///   and for an invalid or unencrypted base.
  public init(
    _ api: RESTAPI, options: Options = Options(), transport: any HTTPTransport,
    clock: any SyncPorts.Clock<Duration> = ContinuousClock(),
    onAlert: @escaping @Sendable (String) -> Void = { _ in }
  ) throws(SyncError) {
    try api.check()
    var settings = HTTPSession.Options()
    settings.deadline = options.deadline
    settings.bodyLimit = options.bodyLimit
    settings.plainHTTP = options.allowsPlainHTTP ? .everywhere : .onLoopback
    settings.userAgent = options.userAgent
    settings.pace = api.pace
    session = try HTTPSession(
      api.base, like: "https://api.example.com/v1/", authorization: api.credentials, options: settings,
      transport: transport, clock: clock, onAlert: onAlert, during: "preparing to read an API")
    self.api = api
    let collections = Dictionary(api.collections.map { ($0.entity.type, $0) }) { first, _ in first }
    self.collections = collections
    capabilitiesByType = collections.mapValues { Self.capabilities(of: $0, among: collections) }
    identity = "rest:\(session.base)"
    capabilities = Self.capabilities(of: api.collections)
  }

  /// Whether refused credentials may be replaced while the process runs, as those of a file may.
  public var renewsCredentials: Bool { session.mayRenewCredentials }

  /// Returns what one collection can promise.
  public func capabilities(of type: RecordType) -> SourceCapabilities {
    capabilitiesByType[type] ?? capabilities
  }

  /// What one collection can promise.
  private static func capabilities(
    of collection: RESTAPI.Collection, among collections: [RecordType: RESTAPI.Collection]
  ) -> SourceCapabilities {
    var own = Self.capabilities(of: [collection])
    // Lists under the records of another type move with it.
    var parent = collection.under?.type
    for _ in collections {
      guard let next = parent.flatMap({ collections[$0] }) else { break }
      if next.paging != nil { own.listing = .moving }
      parent = next.under?.type
    }
    return own
  }

  /// What some collections can promise together: as much as the weakest one.
  private static func capabilities(of collections: [RESTAPI.Collection]) -> SourceCapabilities {
    var overlap: Duration?
    var hasTokens = false
    for case let delta? in collections.map(\.delta) {
      switch delta {
      case .since(_, _, let own, _): overlap = max(own, overlap ?? own)
      case .token, .next: hasTokens = true
      case .etag: break
      }
    }
    let sizes = collections.map(\.pageSize?.maximum)
    return SourceCapabilities(
      deltas: overlap.map { .modifiedSince(overlap: $0) } ?? (hasTokens ? .changeTokens : .fullOnly),
      sendsTombstones: (overlap != nil || hasTokens)
        && collections.allSatisfy { !$0.showsChangesAlone || $0.deleted != nil || $0.sweepEvery != nil },
      listing: collections.contains { $0.paging != nil } ? .moving : .snapshot,
      supportsLookup: collections.allSatisfy { $0.lookupPath != nil },
      // What has no version is as of the time when it was fetched, in any order.
      versions: collections.allSatisfy { $0.version != nil } ? .perChange : .latestFetched,
      maximumPageSize: sizes.contains(nil) ? nil : sizes.compactMap(\.self).max(),
      serverManagedFields: RESTContent.serverManagedFields(of: collections))
  }

  /// Returns what decides which records are listed, and how they are read.
  public func query(for type: RecordType) -> String {
    guard let collection = collections[type] else { return "" }
    var fields = TokenFields(named: "rest1")
    for (name, value) in collection.query {
      fields["?\(name)"] =
        collection.secretQuery[name] == nil ? value : HTTPCredentials.fingerprint(of: value)
    }
    fields["path"] = collection.path
    fields["id"] = ([collection.id] + collection.furtherID).map(\.text).joined(separator: " ")
    fields["layout"] = collection.versionFormat?.layout
    fields["where"] = collection.filter.map { "\($0.pointer.text) \($0.test)" }
    fields["body"] = collection.request.map { TokenFields.digest(of: $0.body) }
    fields["each"] = collection.each.map { "\($0.parameter) \($0.values.joined(separator: " "))" }
    fields["under"] = collection.under.map { "\($0.type) \($0.member) \($0.hasKeysWithin)" }
    fields["records"] = collection.records.text
    fields["version"] = collection.version?.text
    fields["deleted"] = collection.deleted?.text
    // What numbers mean as versions depends on it.
    if case .since(_, let format, _, _) = collection.delta, format != .rfc3339, collection.version != nil {
      fields["numbers"] = format.layout
    }
    switch collection.deletedIf {
    case .word(let word): fields["word"] = word
    case .presence: fields[mark: "presence"] = true
    case nil: break
    }
    return fields.text
  }

  /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
  ///
  /// A page that is longer than ``Options/bodyLimit`` is requested again with half as many records,
  /// if the description names a parameter for their number.
  ///
  /// - Throws: `authentication` for 401; `permissionDenied` for 403; `invalidConfiguration` for a
  ///   type that is not described and for other requests that the server does not understand;
  ///   `inconsistentData` if a pointer leads to something unexpected; `remoteUnavailable`, with the
  ///   requested pause, for 429 and 5xx; `invalidResponse` for an answer that is not JSON, and for
  ///   pages that do not lead on.
  public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    let capabilities = capabilities(of: request.entity.type)
    let listing = RESTListing(
      requests: try requests(for: request.entity.type), request, session: session,
      needsTwoListings: capabilities.listing == .moving && !capabilities.supportsLookup,
      shortfalls: shortfalls)
    switch request.position {
    case .start(nil):
      return try await listing.start(since: nil)
    case .start(let token?):
      guard let token = RESTToken(token) else { return .reset(.tokenExpired) }
      return try await listing.start(since: token)
    case .resume(let token):
      if let walk = RESTTagWalk(token) { return try await listing.walk(walk) }
      guard let bookmark = RESTBookmark(token) else { return .reset(.pageTokenExpired) }
      return try await listing.next(at: bookmark)
    }
  }

  /// Returns the account that the description names, otherwise what tells the credentials from others.
  ///
  /// Without ``RESTAPI/account``, nothing is asked. A request is sent for credentials that have not yet
  /// asked.
  ///
  /// - Throws: The errors of ``page(_:)``; `inconsistentData` if the answer does not tell an account.
  public func account() async throws(SyncError) -> RemoteAccount? {
    let operation = "asking whose data the API shows"
    switch api.account {
    case .value(let place): return .named(try await place.current(during: operation))
    case .at(let path, let pointer):
      let credentials = try await session.fingerprints()
      if let owner = owner.withLock({ $0 }), owner.credentials.map(credentials.contains) ?? true {
        return .named(owner.name)
      }
      let name = try await name(at: path, pointer, during: operation)
      let last = try await session.fingerprints().last
      owner.withLock { $0 = (name, last) }
      return .named(name)
    case nil:
      let credentials = try await session.fingerprints()
      return credentials.isEmpty ? nil : .credentials(credentials)
    }
  }

  private func name(
    at path: String, _ pointer: JSONPointer, during operation: String
  ) async throws(SyncError) -> String {
    let relative = path.hasPrefix("/") ? String(path.dropFirst()) : path
    guard let address = HTTPAddress("\(session.base.origin)\(session.rootPath)/\(relative)") else {
      throw SyncError(.invalidConfiguration, during: operation, "account.path is no path.")
    }
    let response = try await session.send("GET", address, mayBeCompressed: true, during: operation)
    guard response.status == 200 else {
      throw HTTPFailure.status(
        response, during: operation, awaited: "an answer that tells the account",
        special: [
          404: (.invalidConfiguration, ": there is nothing at \"\(path)\" (account.path).")
        ])
    }
    let value: JSONValueSlice?
    do {
      value = try pointer.value(in: JSONValueSlice(checking: response.body[...], depthLimit: .max))
    } catch {
      throw HTTPFailure.unreadable(error, during: operation)
    }
    if let text = value?.string(), !text.isEmpty { return text }
    if let value, value.kind == .number, value.integer() != nil {
      return String(decoding: value.bytes, as: UTF8.self)
    }
    throw SyncError(
      .inconsistentData, during: operation,
      "\(pointer) (account.id) \(value.map { "is \($0.kind.inWords)" } ?? "leads to nothing"); expected is the account's id."
    )
  }

  func requests(for type: RecordType) throws(SyncError) -> RESTRequests {
    guard let collection = collections[type] else {
      throw SyncError(
        .invalidConfiguration, during: "fetching a page of \(type)",
        "The description of the API has no type \(type).")
    }
    return RESTRequests(
      collection: collection, base: session.base, rootPath: session.rootPath,
      keyParameter: api.credentials?.parameter, apiHeaders: api.headers)
  }

  /// Returns the current copies of those records that exist, with one request for each.
  ///
  /// A repeated call goes on after the records that the call before it has seen, if that was a
  /// moment ago.
  ///
  /// - Throws: The errors of ``page(_:)``.
  public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
    let records = RESTRecords(requests: try requests(for: entity.type), entity: entity, session: session)
    let before = lookups.withLock { $0.removeValue(forKey: entity.type) }
    var lookup =
      before.flatMap { $0.ids == ids && $0.age() < Lookup.longest ? $0 : nil }
      ?? Lookup(ids: ids, age: session.clock.stopwatch())
    do throws(SyncError) {
      while lookup.seen < ids.count {
        let id = ids[lookup.seen]
        let copy = try await records.look(
          at: id.key, takesSpellings: true, during: "looking up \(entity.type)")
        // In another spelling of its key, it is the record that lists show.
        if let change = copy?.change, change.id == id, records.isSelected(change) {
          lookup.found.append(change)
        }
        lookup.seen += 1
      }
    } catch {
      let unfinished = lookup
      lookups.withLock { $0[entity.type] = unfinished }
      throw error
    }
    return lookup.found
  }

  /// A lookup, and its answers so far.
  private struct Lookup: Sendable {
    /// The longest time after which the answers still count.
    static let longest = Duration.seconds(60)

    var ids: [RecordID]
    var age: @Sendable () -> Duration
    var seen = 0
    var found: [RecordChange] = []
  }
}

extension RESTAPI.Collection {
  /// Whether a delta shows changed records alone, so that it cannot show what is missing.
  var showsChangesAlone: Bool {
    switch delta {
    case .since, .token, .next: true
    case .etag, nil: false
    }
  }

  /// Whether pages are counted by the description itself.
  var countsPages: Bool {
    switch paging {
    case .page, .offset: true
    case .link, .next, .cursor, .cursorHeader, .after, nil: false
    }
  }

  /// Whether the body of a page says where the next one is.
  var namesNextInBody: Bool {
    switch paging {
    case .next, .cursor: true
    case .link, .cursorHeader, .after, .page, .offset, nil: false
    }
  }

  /// Whether one parameter is both the cursor and the token, as in the changes of CouchDB.
  var cursorIsToken: Bool {
    if case .cursor(_, let name)? = paging, case .token(_, name)? = delta { true } else { false }
  }

  /// The path of one record, if it can be looked at.
  var lookupPath: String? { item ?? push?.write?.path }

  /// How often everything is listed, whatever deltas show.
  var sweepInterval: Duration? {
    guard showsChangesAlone || under?.followsChanges == true else { return nil }
    return sweepEvery ?? (countsPages ? .seconds(24 * 3600) : nil)
  }
}
