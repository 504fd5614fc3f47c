#if Postgres
  public import SyncModels

  /// The address of a store in a PostgreSQL database.
  ///
  /// ```swift
  /// let address = try PostgresAddress("postgres://app@db.example.com/league?schema=schedule")
  /// ```
  ///
  /// What an address leaves out comes from where libpq takes it: `PGHOST`, `PGUSER`, `PGPASSWORD`,
  /// `PGPASSFILE`, `PGAPPNAME`, a service file and so on. An address never holds a password.
  public struct PostgresAddress: Hashable, Sendable {
    /// The parameters for libpq by their names, such as `host` and `dbname`.
    public private(set) var parameters: [String: String]
    /// The name of the schema that holds the store.
    public let schema: String

    /// The schema of an address that names none.
    public static let defaultSchema = "canonicalsync"

    private static let known: Set<String> = [
      "host", "port", "user", "dbname", "sslmode", "sslrootcert", "sslcert", "sslkey", "service",
      "connect_timeout", "application_name",
    ]

    /// Whether a text is an address of this kind, and not a path.
    public static func isAddress(_ text: String) -> Bool {
      text.hasPrefix("postgres://") || text.hasPrefix("postgresql://")
    }

    /// Reads an address such as `postgres://user@host:port/database?schema=name`.
    ///
    /// The parameters after the question mark are `schema`, and libpq's own `host`, `port`, `user`,
    /// `sslmode`, `sslrootcert`, `sslcert`, `sslkey`, `service`, `connect_timeout` and
    /// `application_name`. Several hosts are separated by commas; the store uses the one that
    /// accepts writes.
    ///
    /// - Throws: `invalidConfiguration` for text of another form, a password, an unknown parameter,
    ///   or a schema's name that is empty, reserved or longer than 63 bytes.
    public init(_ text: String) throws(SyncError) {
      guard Self.isAddress(text), let start = text.firstRange(of: "://")?.upperBound else {
        throw Self.invalid("It does not begin with postgres://.")
      }
      var rest = text[start...]
      var query: Substring = ""
      if let mark = rest.firstIndex(of: "?") {
        query = rest[rest.index(after: mark)...]
        rest = rest[..<mark]
      }
      var database: Substring = ""
      if let slash = rest.firstIndex(of: "/") {
        database = rest[rest.index(after: slash)...]
        rest = rest[..<slash]
      }
      var parameters: [String: String] = [:]
      if let at = rest.lastIndex(of: "@") {
        let user = rest[..<at]
        rest = rest[rest.index(after: at)...]
        guard !user.contains(":") else {
          throw Self.invalid(
            "It holds a password, which others could see. Set PGPASSWORD or PGPASSFILE instead.")
        }
        if !user.isEmpty { parameters["user"] = try Self.decoded(user) }
      }
      if !rest.isEmpty { (parameters["host"], parameters["port"]) = try Self.hosts(rest) }
      if !database.isEmpty { parameters["dbname"] = try Self.decoded(database) }
      var schema = Self.defaultSchema
      for pair in query.split(separator: "&") {
        let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let (name, value) = (try Self.decoded(parts[0]), try Self.decoded(parts.count > 1 ? parts[1] : ""))
        if name == "schema" {
          schema = value
        } else if name == "password" {
          throw Self.invalid("It holds a password. Set PGPASSWORD or PGPASSFILE instead.")
        } else if Self.known.contains(name) {
          parameters[name] = value
        } else {
          throw Self.invalid("It has the parameter \(name), which is not known.")
        }
      }
      try Self.check(schema: schema)
      self.parameters = parameters
      self.schema = schema
    }

    /// Creates an address from parameters for libpq.
    ///
    /// - Throws: `invalidConfiguration` for a password among them, or an invalid schema's name.
    public init(
      parameters: [String: String] = [:], schema: String = PostgresAddress.defaultSchema
    ) throws(SyncError) {
      guard parameters["password"] == nil else {
        throw Self.invalid("A password is part of the store's configuration, not of its address.")
      }
      try Self.check(schema: schema)
      self.parameters = parameters
      self.schema = schema
    }

    private static func hosts(_ text: Substring) throws(SyncError) -> (host: String, port: String?) {
      var hosts: [String] = []
      var ports: [String] = []
      for place in text.split(separator: ",", omittingEmptySubsequences: false) {
        var host = place
        var port: Substring = ""
        // A colon inside brackets belongs to the host's number.
        if let colon = place.lastIndex(of: ":"), place.last != "]" {
          (host, port) = (place[..<colon], place[place.index(after: colon)...])
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        guard port.isEmpty || UInt16(port) != nil else {
          throw invalid("The port of one of its hosts is not a number from 0 to 65535.")
        }
        hosts.append(try decoded(host))
        ports.append(String(port))
      }
      let hasPorts = ports.contains { !$0.isEmpty }
      return (hosts.joined(separator: ","), hasPorts ? ports.joined(separator: ",") : nil)
    }

    private static func decoded(_ text: Substring) throws(SyncError) -> String {
      guard let decoded = String(percentEncoded: text), !decoded.utf8.contains(0) else {
        throw invalid(
          "A percent sign in it is not followed by two hexadecimal digits, or a part of it is not UTF-8.")
      }
      return decoded
    }

    private static func check(schema: String) throws(SyncError) {
      let size = schema.utf8.count
      guard (1...StoredName.longest).contains(size), !schema.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
      else {
        throw invalid(
          "The schema's name has \(Counted(size, "byte")) or a control character; 1 to 63 bytes are allowed.")
      }
      guard !schema.hasPrefix("pg_"), schema != "information_schema" else {
        throw invalid("The schema's name \(schema) is reserved by PostgreSQL.")
      }
    }

    private static func invalid(_ message: String) -> SyncError {
      SyncError(.invalidConfiguration, during: "reading the address of a PostgreSQL store", message)
    }
  }

  extension PostgresAddress: CustomStringConvertible {
    /// The address without what the environment adds.
    public var description: String {
      let host = parameters["host"] ?? ""
      let port = parameters["port"].map { ":\($0)" } ?? ""
      return "postgres://\(host)\(port)/\(parameters["dbname"] ?? "")?schema=\(schema)"
    }
  }
#endif
