#if Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import PostgresAdapters
  import SyncModels
  import SyncPorts

  struct Game: SyncedRecord, Encodable {
    static let recordType: RecordType = "games"
    var v: Int?
  }

  /// A type with an index, for tests.
  enum Games {
    static let entity = Entity(
      "games", references: [.to("games", by: "rematch")], naturalKey: NaturalKey("code"), indexes: ["v"])

    static func schema() throws(SyncError) -> SyncSchema { try SyncSchema(entity) }

    /// Calls a body with a new store of games and the name of its schema.
    static func withStore(
      _ configuration: PostgresStore.Configuration = .init(),
      _ body: (PostgresStore, String) async throws -> Void
    ) async throws {
      try await Database.withSchema { schema in
        let store = try await Database.open(schema, configuration)
        try await store.register(try Games.schema())
        try await body(store, schema)
        await store.close()
      }
    }

    /// Calls a body with a store whose server soon ends transactions that do nothing.
    ///
    /// Tables are created before, without that limit: a busy machine may pause for so long.
    static func withImpatientStore(_ body: (PostgresStore) async throws -> Void) async throws {
      var configuration = PostgresStore.Configuration(reconnectTimeout: .zero)
      configuration.idleTransactionTimeout = .seconds(1)
      try await withStore { (first, schema) async throws in
        let store = try await Database.open(schema, configuration)
        try await store.register(try Games.schema())
        try await body(store)
        await store.close()
      }
    }

    static func record(_ key: String, _ json: String = "{}", version: Int64 = 1) throws(SyncError) -> Record {
      let payload = Payload(Array(json.utf8))
      do {
        return Record(
          id: RecordID(type: "games", key: key),
          version: Version(sequence: version, modifiedAt: Timestamp(milliseconds: version)), payload: payload,
          fields: try entity.fields(of: payload))
      } catch {
        throw SyncError(.invalidConfiguration, during: "making a record", underlying: error)
      }
    }
  }

  extension PostgresStore {
    /// The statements that a body needs.
    func statements(_ body: () async throws -> Void) async throws -> Int {
      let start = try await statementCount()
      try await body()
      return try await statementCount() - start
    }

    func put(_ records: Record...) async throws(SyncError) { try await put(records) }

    func put(_ records: [Record]) async throws(SyncError) {
      try await write(.app) { (transaction) throws(SyncError) in try transaction.put(records) }
    }

    func keys(where condition: Condition? = nil, order: [Query.SortField] = []) async throws(SyncError)
      -> [String]
    {
      try await read { (snapshot) throws(SyncError) in
        try snapshot.records(Query("games", where: condition, order: order)).map(\.id.key)
      }
    }
  }
#endif
