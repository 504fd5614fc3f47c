#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// All that a connection needs to open itself, and to set itself up.
  struct ConnectionSettings: Sendable {
    /// What a connection is for.
    enum Purpose {
      /// Transactions that write, one after another.
      case writing
      /// Snapshots.
      case reading
      /// Notifications.
      case listening
    }

    let schema: String
    let purpose: Purpose
    /// Whether a pool lends the connection, so that its session keeps nothing between transactions.
    let isLent: Bool
    /// The name of this connection among those that write.
    let writer: [UInt8]
    /// How long a transaction may wait for reconnecting.
    let patience: Duration
    let keywords: [(name: String, value: String)]
    let connectTimeout: Duration
    private let statementTimeout: Duration
    private let busyTimeout: Duration
    /// The time after which the server ends a transaction that does nothing; 0 for no limit.
    var idleMilliseconds: Int64

    init(
      _ configuration: PostgresStore.Configuration, at address: PostgresAddress, for purpose: Purpose,
      isLent: Bool = false
    ) {
      self.isLent = isLent
      schema = address.schema
      self.purpose = purpose
      writer = (0..<16).map { _ in UInt8.random(in: 0...255) }
      // The listener has its own loop.
      patience = purpose == .listening ? .zero : configuration.reconnectTimeout
      connectTimeout = configuration.connectTimeout
      statementTimeout = configuration.statementTimeout
      busyTimeout = configuration.busyTimeout
      idleMilliseconds = Self.milliseconds(configuration.idleTransactionTimeout)
      var values = address.parameters
      if let password = configuration.password { values["password"] = password }
      values["client_encoding"] = "UTF8"
      values["fallback_application_name"] = "CanonicalSync"
      // A connection to a host that vanished ends within about half a minute. While data waits to
      // be acknowledged there are no keepalives, but a time limit of its own, on Linux.
      let limits = [
        "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
        "tcp_user_timeout": "30000",
      ]
      values.merge(limits) { given, _ in given }
      if !configuration.isReadOnly { values["target_session_attrs"] = "read-write" }
      Self.demandTrust(in: &values)
      keywords = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    // MARK: Trust

    /// Demands a verified server, except on this machine or where the app says otherwise.
    private static func demandTrust(in values: inout [String: String]) {
      guard values["sslmode"] == nil, environment("PGSSLMODE") == nil else { return }
      let isService = values["service"] != nil || environment("PGSERVICE") != nil
      let host = values["host"] ?? environment("PGHOST") ?? ""
      // A number of an address replaces the look-up of the host's name.
      let number = values["hostaddr"] ?? environment("PGHOSTADDR") ?? ""
      if isLocal(host), isLocal(number), !isService { return }
      values["sslmode"] = "verify-full"
      guard values["sslrootcert"] == nil, environment("PGSSLROOTCERT") == nil,
        environment("HOME").map({ cpostgres_is_readable($0 + "/.postgresql/root.crt") == 0 }) ?? true
      else { return }
      let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem",
      ]
      if let bundle = bundles.first(where: { cpostgres_is_readable($0) != 0 }) {
        values["sslrootcert"] = bundle
      }
    }

    /// Whether all hosts are this machine: loopback addresses and directories of sockets.
    static func isLocal(_ hosts: String) -> Bool {
      hosts.split(separator: ",").allSatisfy { host in
        host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
          || isLoopback(host)
      }
    }

    /// Whether a host is a number such as 127.0.0.1, and not a name that begins like one.
    private static func isLoopback(_ host: Substring) -> Bool {
      let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
      return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }

    private static func environment(_ name: String) -> String? {
      cpostgres_environment(name).map { String(cString: $0) }
    }

    // MARK: Failures

    /// The failure of an attempt to connect. The words of libpq name hosts, never passwords.
    func failure(of connection: OpaquePointer) -> PostgresFailure {
      let words = PQerrorMessage(connection).map { String(cString: $0) } ?? ""
      let state = Self.state(in: words)
      let code = PostgresFailure(state: state, isConnectionLost: false).meaning
      let place = keywords.first { $0.name == "host" }.map { "at \($0.value)" } ?? "on this machine"
      let text: String? =
        switch code {
        case .authentication:
          "The PostgreSQL server \(place) refuses the role or its password; see PGUSER, PGPASSWORD and PGPASSFILE."
        case .invalidConfiguration: "The PostgreSQL server \(place) has no such database."
        case .permissionDenied: "The PostgreSQL server \(place) does not let the role use the database."
        case .storeBusy: "The PostgreSQL server \(place) has no connection left; lower the pools' sizes."
        default: nil
        }
      if let text { return PostgresFailure(state: state, isConnectionLost: false, connecting: text) }
      if words.contains("read-only") || words.contains("hot standby") {
        let isSet = Self.isOn("default_transaction_read_only", of: connection)
        let isStandby = Self.isOn("in_hot_standby", of: connection)
        let reason =
          isSet == true && isStandby == false
          ? """
          default_transaction_read_only is on for the server, the database or the role. Turn it off for the role \
          (ALTER ROLE … SET default_transaction_read_only = off), or open the store with isReadOnly.
          """
          : isStandby == nil
            ? "it is a standby in recovery, or default_transaction_read_only is on."
            : "it is a standby in recovery."
        // A standby that takes over accepts writes in a moment, so a transaction tries again.
        return PostgresFailure(
          state: "25006", isConnectionLost: true,
          connecting: "The PostgreSQL server \(place) only reads: \(reason)")
      }
      // Other words about SSL tell of a connection that ended.
      let isTrust = words.contains("certificate") || words.contains("does not support SSL")
      let line = words.split(separator: "\n").first.map(String.init) ?? "no words"
      return PostgresFailure(
        state: state, isConnectionLost: !isTrust,
        connecting: isTrust
          ? "The PostgreSQL server \(place) could not be verified; see sslmode and sslrootcert. \(line)"
          : "The PostgreSQL server \(place) cannot be reached: \(line)",
        code: isTrust ? .untrustedServer : nil)
    }

    /// Whether a setting that servers from version 14 on report is on; `nil` from older ones.
    private static func isOn(_ name: String, of connection: OpaquePointer) -> Bool? {
      PQparameterStatus(connection, name).map { String(cString: $0) == "on" }
    }

    /// The SQLSTATE in verbose words such as `FATAL:  28P01: …`.
    private static func state(in words: String) -> String {
      guard let mark = words.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { return "" }
      return String(mark.1)
    }

    // MARK: Setting up

    /// The schema as the value of `search_path`.
    var searchPath: String { StoredName.quoted(schema) }

    /// What a session needs beside the schema, as names and values.
    private var parameters: [(name: String, value: String)] {
      var parameters = [
        ("statement_timeout", "\(statementMilliseconds)"), ("lock_timeout", "\(busyMilliseconds)"),
        ("idle_in_transaction_session_timeout", "\(idleMilliseconds)"), ("jit", "off"),
        ("bytea_output", "hex"), ("extra_float_digits", "1"),
      ]
      switch purpose {
      case .writing:
        // Its statements look up keys in indexes, one row for each. A plan that was right for an
        // empty table, and is kept, would scan the table that grew.
        parameters += [
          ("plan_cache_mode", "force_generic_plan"), ("enable_seqscan", "off"), ("enable_hashjoin", "off"),
          ("enable_mergejoin", "off"), ("enable_bitmapscan", "off"),
        ]
      // The server plans a lookup by key five times, and then keeps its plan, because planning takes
      // longer than the lookup. So it does with queries, unless they take long: ``KeptPlans``.
      case .reading, .listening: break
      }
      return parameters
    }

    /// The statements that set a new connection up.
    var preparation: String {
      (["search_path = \(searchPath)"] + parameters.map { "\($0.name) = \($0.value)" })
        .map { "SET \($0)" }.joined(separator: "; ")
    }

    /// The statement that sets a session up for the transaction that has begun.
    func setUp(for session: Session) -> Statement {
      let calls = parameters.map { "set_config('\($0.name)', '\($0.value)', true)" }
      let sql = """
        SELECT set_config('canonicalsync.session', $1::text, true), set_config('search_path', $2::text, true), \
        \(calls.joined(separator: ", "))
        """
      return Statement(sql) { parameters in
        parameters.add(text: session.name)
        parameters.add(text: searchPath)
      }
    }

    /// The most time of a statement, in milliseconds; 0 for no limit.
    var statementMilliseconds: Int64 { Self.milliseconds(statementTimeout) }

    /// The most time of a wait for others, in milliseconds; 0 for no limit.
    var busyMilliseconds: Int64 { Self.milliseconds(busyTimeout) }

    private static func milliseconds(_ duration: Duration) -> Int64 {
      max(0, duration.wholeMicroseconds / 1000)
    }

    /// The number of the lock under which indexes are built.
    var indexLock: Int64 { Self.lock("index/\(schema)") }

    /// The number of the lock under which writes queue.
    var writeLock: Int64 { Self.lock("write/\(schema)") }

    /// The number of the lock that the holder of a lease keeps while it lives.
    func holderLock(_ fence: Int64) -> Int64 { Self.lock("lease/\(schema)/\(fence)") }

    /// The name under which commits are notified.
    var channel: String {
      let digits = String(ContentDigest.of(schema), radix: 16)
      return "canonicalsync_" + digits
    }

    private static func lock(_ name: String) -> Int64 {
      Int64(bitPattern: ContentDigest.of("CanonicalSync/" + name))
    }
  }
#endif
