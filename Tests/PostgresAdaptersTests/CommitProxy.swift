#if Postgres
  import CanonicalSyncTestPostgres
  import Foundation
  import SyncModels

  /// Passes connections on to the database, and loses one commit or its answer on request.
  final class CommitProxy {
    private let process = Process()
    private let input = Pipe()
    let port: Int

    private static let script = """
      import socket, sys, threading
      target = ("127.0.0.1", int(sys.argv[1]))
      order = [None]
      def pump(a, b, isClient, pair):
          try:
              while True:
                  data = a.recv(65536)
                  if not data: break
                  if isClient and order[0] and b"COMMIT" in data:
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
    private let output = Pipe()

    init() throws {
      let port = Database.address.firstMatch(of: #/127\.0\.0\.1:(\d+)/#).map { String($0.1) } ?? ""
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["python3", "-c", Self.script, port]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      self.port = Int(Self.line(output)) ?? 0
    }

    /// Loses the next commit, or the answer to it.
    func lose(_ what: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(what)\n".utf8))
      _ = Self.line(output)
    }

    func stop() { kill(process.processIdentifier, SIGKILL) }

    private static func line(_ pipe: Pipe) -> String {
      var bytes: [UInt8] = []
      while let byte = try? pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
