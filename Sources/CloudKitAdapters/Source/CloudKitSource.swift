#if CloudKit
  public import HTTPAdapters
  public import SyncModels
  public import SyncPorts

  /// A remote in one CloudKit database: each type is a record type there.
  ///
  /// ```swift
  /// let key = try ServerToServerKey(keyID: id, privateKey: SigningKey(pem: pem))
  /// let source = try CloudKitSource(
  ///   CloudKitDatabase(container: "iCloud.com.example", environment: .production, scope: .public),
  ///   access: .serverToServer(key), types: ["games": CloudKitType("Game")], transport: transport)
  /// ```
  ///
  /// The public database has neither change tokens nor tombstones. There, a delta is a query by
  /// modification time. It starts from the service's own clock before the previous pass, less
  /// ``CloudKitType/overlap``, as an index shows a write late. A zone of a private or shared
  /// database has both; each type asks for its own part of the zone's changes.
  ///
  /// From time to time, a delta also lists all keys, which shows deletions: the public database
  /// has no other sign of them, and whether a zone's changes always include them is not
  /// documented. See ``CloudKitType/sweepEvery``.
  ///
  /// The payload of a record holds its fields as plain members under their names, `recordName`, and
  /// a reference as the key of its target. Members that begin with `___` hold the rest: the types
  /// of fields that a value does not tell, and the members of the record. They are
  /// server-managed: no edit concerns them.
  ///
  /// - Note: Requests are made as Apple's documentation describes them. What it leaves open is
  ///   handled liberally. Nothing was compared with Apple's own servers.
  public final class CloudKitSource: RemoteRecordSource {
    /// The endpoint, container, environment, database and zone.
    public let identity: String
    /// Deltas by time in the public database, by change tokens in a zone.
    public let capabilities: SourceCapabilities

    let service: CloudKitService
    let types: [RecordType: CloudKitType]

    /// Settings for requests.
    public struct Options: Hashable, Sendable {
      /// The longest time for a request.
      public var deadline: Duration = .seconds(60)
      /// The most bytes of an answer's body.
      public var bodyLimit = 64 << 20

      /// Creates the default options.
      public init() {}
    }

    /// Creates a source for a database. Nothing is sent yet.
    ///
    /// - Parameters:
    ///   - database: The database, and its zone if it is a private or shared one.
    ///   - access: Who asks for records.
    ///   - types: The record type of each synced type.
    ///   - options: Limits and deadlines.
    ///   - transport: Carries the requests.
    ///   - clock: Measures deadlines and pauses, and dates signatures; the engine's clock.
    /// - Throws: `invalidConfiguration` for an invalid name, an unencrypted address of another
    ///   machine, a key for another database than the public one, or a zone that is missing or out
    ///   of place.
    public init(
      _ database: CloudKitDatabase, access: CloudKitAccess, types: [RecordType: CloudKitType],
      options: Options = Options(), transport: any HTTPTransport,
      clock: any SyncPorts.Clock<Duration> = ContinuousClock()
    ) throws(SyncError) {
      for (type, settings) in types.sorted(by: { $0.key < $1.key }) { try settings.check(type) }
      service = try CloudKitService(
        database, access: access, deadline: options.deadline, bodyLimit: options.bodyLimit,
        transport: transport, clock: clock)
      self.types = types
      identity = database.identity
      let isPublic = database.scope == .public
      let overlap = types.values.map(\.overlap).max() ?? .seconds(60)
      capabilities = SourceCapabilities(
        deltas: isPublic ? .modifiedSince(overlap: overlap) : .changeTokens, sendsTombstones: !isPublic,
        sweepsByItself: true, listing: .moving, supportsLookup: true,
        versions: isPublic ? .perChange : .latestFetched, maximumPageSize: CloudKitService.largestPage,
        serverManagedFields: RecordPayload.managed)
    }

    /// The record type and the field that marks deleted records.
    public func query(for type: RecordType) -> String { types[type]?.query ?? "" }

    /// Returns the signed-in user, by one request to `users/caller` for each chain of tokens.
    ///
    /// It is `nil` for a server-to-server key, whose data are the same for all keys, and for a service
    /// that does not tell.
    ///
    /// - Throws: The errors of ``page(_:)``.
    public func account() async throws(SyncError) -> RemoteAccount? {
      try await service.caller(during: "asking who the user is").map(RemoteAccount.named)
    }

    /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
    ///
    /// - Throws: `authentication` for a key, a signature or a token that is not accepted, with
    ///   ``SignInRequired`` as the underlying error where a user has to sign in;
    ///   `permissionDenied`; `invalidConfiguration` for a schema without the needed index, which
    ///   the message names, and for a zone or record type that does not exist; `quotaExceeded`;
    ///   `remoteUnavailable`, with the requested pause, for throttling and failures of the service;
    ///   `invalidResponse` for an answer that is none of CloudKit's.
    public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      let reader = try reader(request.entity)
      if service.database.scope == .public {
        return try await QueryPass(source: self, reader: reader).page(request)
      }
      return try await ZonePass(source: self, reader: reader).page(request)
    }

    func reader(_ entity: Entity) throws(SyncError) -> CloudKitRecordReader {
      guard let type = types[entity.type] else {
        throw SyncError(
          .invalidConfiguration, during: "fetching a page of \(entity.type)",
          "No CloudKit record type is declared for \(entity.type).")
      }
      return CloudKitRecordReader(entity, type)
    }

    /// Returns the current copies of some records.
    ///
    /// - Throws: The errors of ``page(_:)``.
    public func lookup(_ ids: [RecordID], of entity: Entity) async throws(SyncError) -> [RecordChange] {
      let reader = try reader(entity)
      let found = try await records(
        named: ids.map(\.key), reader, during: "looking up records of \(entity.type)")
      return found.map { reader.read($0) }
    }

    /// The records of some names that exist in any state, in no particular order.
    func records(
      named names: [String], _ reader: CloudKitRecordReader, during task: String
    ) async throws(SyncError) -> [RecordDictionary] {
      var found: [RecordDictionary] = []
      var rest = names[...]
      while !rest.isEmpty {
        let portion = rest.prefix(CloudKitService.largestPage)
        rest = rest.dropFirst(portion.count)
        var body = ObjectWriter()
        let records = portion.map { name in
          var record = ObjectWriter()
          record.add("recordName", text: name)
          return record.bytes
        }
        body.add("records", SplitReference.array(records)[...])
        if let zone = service.database.zone { body.add("zoneID", zone.bytes[...]) }
        let reply = try await service.ask(
          "records/lookup", body.bytes, recordType: reader.type.recordType, during: task)
        let list = try RecordList(reply.body[...], during: task)
        service.heed(list)
        found += list.records.filter { $0.errorCode != "NOT_FOUND" && reader.concerns($0) }
      }
      return found
    }

    /// Adds the records of a list to a page of a type.
    ///
    /// Errors in a record's place are looked up once. An element that cannot be read is malformed
    /// and never just absent, because a record that a listing lacks is deleted.
    ///
    /// - Parameters:
    ///   - records: Those of the list that belong to the page.
    ///   - areKeysAlone: Whether the records have no fields, so that they show presence alone.
    ///   - time: The time of tombstones that have none of their own.
    func add(
      _ records: [RecordDictionary], of list: RecordList, areKeysAlone: Bool, to page: inout RecordPage,
      _ reader: CloudKitRecordReader, at time: Timestamp, during task: String
    ) async throws(SyncError) {
      var failed: [String] = []
      for record in records where reader.concerns(record) && record.errorCode != "NOT_FOUND" {
        if record.errorCode != nil, let name = record.name {
          failed.append(name)
        } else if areKeysAlone, let present = reader.present(record) {
          page.present.append(present)
        } else {
          page.changes.append(reader.read(record, at: time))
        }
      }
      if !failed.isEmpty {
        page.changes += try await self.records(named: failed, reader, during: task).map { reader.read($0) }
      }
      page.changes += list.malformed(reader.entity.type)
    }
  }

  /// Decides when all keys are to be listed.
  extension CloudKitType {
    /// Whether so much time has passed since the last listing of all keys.
    func isSweepDue(since swept: Int64, at now: Timestamp) -> Bool {
      guard let sweepEvery else { return false }
      let last = Timestamp(milliseconds: swept)
      // A time in the future was stamped by another clock.
      return now >= last + sweepEvery || last > now + sweepEvery
    }
  }
#endif
