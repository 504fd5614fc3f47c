#if Postgres
  import PostgresAdapters
  import SyncModels
  import Testing

  @Suite("The address of a PostgreSQL store")
  struct AddressTests {
    @Test func namesServerDatabaseAndSchema() throws {
      let address = try PostgresAddress(
        "postgres://app@db.example.com:5433/league%20one?schema=my%2Dschedule&sslmode=require")
      #expect(
        address.parameters == [
          "user": "app", "host": "db.example.com", "port": "5433", "dbname": "league one",
          "sslmode": "require",
        ])
      #expect(address.schema == "my-schedule")
    }

    @Test func leavesOutWhatTheEnvironmentHas() throws {
      let address = try PostgresAddress("postgresql://")
      #expect(address.parameters == [:])
      #expect(address.schema == PostgresAddress.defaultSchema)
    }

    @Test func namesSeveralServersAndSockets() throws {
      let several = try PostgresAddress("postgres://a,[::1]:5433/db")
      #expect(several.parameters == ["host": "a,::1", "port": ",5433", "dbname": "db"])
      let socket = try PostgresAddress("postgres:///db?host=/run/postgresql")
      #expect(socket.parameters == ["host": "/run/postgresql", "dbname": "db"])
    }

    @Test(
      arguments: [
        "schedule.db", "postgres:db", "postgres://u:secret@h/db", "postgres://h/db?password=secret",
        "postgres://h/db?colour=red", "postgres://h:99999/db", "postgres://h/d%zz", "postgres://h/d%00",
        "postgres://h/db?schema=", "postgres://h/db?schema=pg_toast",
        "postgres://h/db?schema=information_schema",
        "postgres://h/db?schema=" + String(repeating: "s", count: 64), "postgres://h/db?schema=a%0Ab",
      ])
    func isRefused(_ text: String) throws {
      let error = try #require(throws: SyncError.self) { try PostgresAddress(text) }
      #expect(error.code == .invalidConfiguration)
      let words = "\(error)"
      #expect(!words.contains("secret"))
    }
  }
#endif
