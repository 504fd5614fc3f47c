#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import PostgresAdapters
  import SyncModels
  import Testing

  @Suite("Servers that vanish, or do not speak", .enabled(if: Database.isThere), .timeLimit(.minutes(10)))
  struct SilentServerTests {
    /// Accepts connections, and sends each of them the same bytes after its first.
    ///
    /// Without bytes it never answers; otherwise it closes the connection.
    private func server(answering bytes: String = "") throws -> PythonServer {
      try PythonServer(
        """
        import socket, sys
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        answer, kept = sys.argv[1].encode(), []
        while True:
            client = listener.accept()[0]
            if not answer: kept.append(client); continue
            client.recv(8)
            client.sendall(answer)
            client.close()
        """, bytes)
    }

    /// The address of the database's store, after other servers in the same list.
    private func address(after ports: [Int], schema: String) throws -> PostgresAddress {
      let hosts = ports.map { "127.0.0.1:\($0)," }.joined()
      return try PostgresAddress(
        Database.address.replacing("@127.0.0.1", with: "@\(hosts)127.0.0.1") + "?schema=\(schema)")
    }

    @Test(arguments: [false, true])
    func areLeftForTheNextHostOfTheList(_ isReadOnly: Bool) async throws {
      try await Database.withSchema { schema in
        let (first, second) = (try server(), try server())
        defer {
          first.stop()
          second.stop()
        }
        let made = try await Database.open(schema)
        await made.close()
        // A port without a server comes between them.
        let store = try await PostgresStore.open(
          try address(after: [first.port, 1, second.port], schema: schema),
          configuration: .init(isReadOnly: isReadOnly, connectTimeout: .seconds(40)))
        if !isReadOnly {
          try await store.register(try Games.schema())
          try await store.put(Games.record("a"))
        }
        await store.close()
      }
    }

    @Test func endAnAttemptInTime() async throws {
      let (first, second) = (try server(), try server())
      defer {
        first.stop()
        second.stop()
      }
      let hosts = "127.0.0.1:\(first.port),127.0.0.1:\(second.port)"
      let start = ContinuousClock.now
      let error = await #expect(throws: SyncError.self) {
        try await PostgresStore.open(
          try PostgresAddress("postgres://postgres@\(hosts)/stores"),
          configuration: .init(connectTimeout: .seconds(2)))
      }
      #expect(error?.code == .storeFailure)
      #expect(error?.message.contains("did not answer") == true)
      let time = ContinuousClock.now - start
      #expect(time > .seconds(1.5) && time < .seconds(20), "\(time)")
    }

    @Test(arguments: [("S", SyncError.Code.storeFailure), ("N", .untrustedServer)])
    func areToldFromThoseThatCannotBeTrusted(_ answer: String, _ code: SyncError.Code) async throws {
      let server = try self.server(answering: answer)
      defer { server.stop() }
      let error = await #expect(throws: SyncError.self) {
        try await PostgresStore.open(
          try PostgresAddress("postgres://postgres@127.0.0.1:\(server.port)/stores?sslmode=require"))
      }
      #expect(error?.code == code, "\(String(describing: error))")
    }

    #if os(Linux)
      /// How long data may stay unacknowledged on this process's connections to a port.
      private func timeouts(port: Int) -> [Int32] {
        (0..<min(getdtablesize(), 65_536)).compactMap { descriptor in
          var peer = sockaddr_in()
          var size = socklen_t(MemoryLayout<sockaddr_in>.size)
          let isConnected = withUnsafeMutablePointer(to: &peer) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) }
          }
          guard isConnected == 0, peer.sin_family == AF_INET, Int(UInt16(bigEndian: peer.sin_port)) == port
          else { return nil }
          var timeout: Int32 = -1
          size = socklen_t(MemoryLayout<Int32>.size)
          getsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &timeout, &size)
          return timeout
        }
      }

      @Test func areNoticedWithinHalfAMinuteUnlessTheAddressSaysOtherwise() async throws {
        try await Database.withSchema { schema in
          for milliseconds in [nil, "5000"] {
            let proxy = try CommitProxy()
            defer { proxy.stop() }
            var parameters = try PostgresAddress(proxy.address).parameters
            parameters["tcp_user_timeout"] = milliseconds
            let store = try await PostgresStore.open(
              try PostgresAddress(parameters: parameters, schema: schema))
            #expect(timeouts(port: proxy.port) == [Int32(milliseconds ?? "30000")])
            await store.close()
          }
        }
      }
    #endif
  }
#endif
