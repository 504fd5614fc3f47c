#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  extension ConnectionSettings {
    /// Opens a connection; `nil` if no host answered in time.
    ///
    /// libpq goes on to the next host of a list when one fails, but waits for one that is silent.
    /// So each host has an equal share of the time. One that has not answered by then is left out,
    /// and the others are tried again.
    func connect(unless isAbandoned: () -> Bool) -> OpaquePointer? {
      let end = ContinuousClock.now + connectTimeout
      var keywords = keywords
      while let connection = Self.start(keywords) {
        var hosts = HostList(of: connection)
        let share = (end - ContinuousClock.now) / max(1, hosts.count)
        if Self.complete(connection, share: share, by: end, unless: isAbandoned) {
          return connection
        }
        hosts.removeCurrent(of: connection)
        PQfinish(connection)
        if hosts.isEmpty || isAbandoned() { return nil }
        // The last value of a keyword counts.
        keywords += hosts.keywords
      }
      return nil
    }

    private static func start(_ keywords: [(name: String, value: String)]) -> OpaquePointer? {
      var (names, values) = (Parameters(), Parameters())
      for (name, value) in keywords {
        names.add(text: name)
        values.add(text: value)
      }
      return names.withPointers { names, _ in
        values.withPointers { values, _ in cpostgres_start(names, values) }
      }
    }

    /// Waits until a connection is open or has failed; false if a host was silent.
    private static func complete(
      _ connection: OpaquePointer, share: Duration, by end: ContinuousClock.Instant,
      unless isAbandoned: () -> Bool
    ) -> Bool {
      if PQstatus(connection) == CONNECTION_BAD { return true }
      var host = HostList.Host(current: connection)
      var limit = ContinuousClock.now + share
      var next = PGRES_POLLING_WRITING
      while next != PGRES_POLLING_OK, next != PGRES_POLLING_FAILED {
        let left = min(limit, end) - ContinuousClock.now
        guard left > .zero, !isAbandoned() else { return false }
        let milliseconds = Int32(clamping: min(100, left.wholeMicroseconds / 1000 + 1))
        if cpostgres_wait(connection, next == PGRES_POLLING_WRITING ? 1 : 0, milliseconds) == 0 { continue }
        next = PQconnectPoll(connection)
        let current = HostList.Host(current: connection)
        if current != host { (host, limit) = (current, ContinuousClock.now + share) }
      }
      return true
    }
  }

  /// The hosts of a connection, from the address, the environment or a service file.
  private struct HostList {
    struct Host: Equatable {
      var name: String
      /// The number that replaces the look-up of the name; empty if there is none.
      var number = ""
      var port: String

      init(name: String, number: String, port: String) {
        (self.name, self.number, self.port) = (name, number, port)
      }

      /// The host that a connection tries now.
      ///
      /// Its number stands for a missing name.
      init(current connection: OpaquePointer) {
        name = PQhost(connection).map { String(cString: $0) } ?? ""
        port = PQport(connection).map { String(cString: $0) } ?? ""
      }
    }

    private var hosts: [Host] = []

    var count: Int { hosts.count }
    var isEmpty: Bool { hosts.isEmpty }

    var keywords: [(name: String, value: String)] {
      [("host", \Host.name), ("hostaddr", \.number), ("port", \.port)].map { name, part in
        (name, hosts.map { $0[keyPath: part] }.joined(separator: ","))
      }
    }

    init(of connection: OpaquePointer) {
      var lists: [String: [String]] = [:]
      let options = PQconninfo(connection)
      defer { PQconninfoFree(options) }
      var option = options
      while let name = option?.pointee.keyword.map({ String(cString: $0) }) {
        if ["host", "hostaddr", "port"].contains(name), let value = option?.pointee.val {
          lists[name] = String(cString: value).split(separator: ",", omittingEmptySubsequences: false)
            .map { String($0) }
        }
        option = option?.successor()
      }
      let (names, numbers, ports) = (lists["host"] ?? [], lists["hostaddr"] ?? [], lists["port"] ?? [])
      for place in 0..<max(names.count, numbers.count) {
        hosts.append(
          Host(
            name: place < names.count ? names[place] : "",
            number: place < numbers.count ? numbers[place] : "",
            // One port is that of all hosts.
            port: place < ports.count ? ports[place] : ports.last ?? ""))
      }
    }

    /// Leaves out the host that a connection tries now; all, if it is unknown.
    mutating func removeCurrent(of connection: OpaquePointer) {
      let current = Host(current: connection)
      let place = hosts.firstIndex { host in
        (host.name.isEmpty ? host.number : host.name) == current.name
          && (host.port.isEmpty || host.port == current.port)
      }
      if let place { hosts.remove(at: place) } else { hosts = [] }
    }
  }
#endif
