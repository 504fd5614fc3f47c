#if Postgres
  import CanonicalSyncTestPostgres

  /// Passes connections on to the database, and loses one commit or its answer on request.
  struct CommitProxy {
    private let server: PythonServer
    private let target: String

    private static let script = """
      import socket, sys, threading
      target = ("127.0.0.1", int(sys.argv[1]))
      order = [None]
      def pump(a, b, isClient, pair):
          try:
              while True:
                  data = a.recv(65536)
                  if not data: break
                  if isClient and order[0] and b"COMMIT\\0" in data:
                      way, order[0] = order[0], None
                      if way == "answer":
                          pair["deaf"] = True
                          b.sendall(data)
                          pair["wait"].wait(5)
                      break
                  if not isClient and pair["deaf"]:
                      pair["wait"].set()
                      continue
                  b.sendall(data)
          except OSError: pass
          for s in (a, b):
              try: s.shutdown(socket.SHUT_RDWR)
              except OSError: pass
      def serve(client):
          server = socket.create_connection(target)
          pair = {"deaf": False, "wait": threading.Event()}
          threading.Thread(target=pump, args=(client, server, True, pair), daemon=True).start()
          threading.Thread(target=pump, args=(server, client, False, pair), daemon=True).start()
      listener = socket.create_server(("127.0.0.1", 0))
      print(listener.getsockname()[1], flush=True)
      def orders():
          for line in sys.stdin:
              order[0] = line.strip()
              print("ready", flush=True)
          sys.exit
      threading.Thread(target=orders, daemon=True).start()
      while True: serve(listener.accept()[0])
      """

    /// Starts the proxy for a database on a loopback port.
    init(to address: String = Database.address) throws {
      target = address
      server = try PythonServer(Self.script, "\(Database.port(in: address))")
    }

    /// The database's address by way of the proxy.
    var address: String {
      target.replacing(":\(Database.port(in: target))/", with: ":\(server.port)/")
    }

    var port: Int { server.port }

    /// Loses the next commit, or the answer to it.
    func lose(_ what: String) throws { try server.order(what) }

    func stop() { server.stop() }
  }
#endif
