import CanonicalSyncListening
import Foundation
package import SyncConformance
import Synchronization

/// A server on a free loopback port that sends exactly the bytes a test scripts.
package final class LoopbackServer: WireServer {
  /// Answers one request, given its head.
  ///
  /// The function sends bytes, and returns `false` once the client is gone.
  package typealias Answer = @Sendable (_ head: String, _ send: ([UInt8]) -> Bool) -> Void

  /// The port.
  package var port: Int { listener.port }
  private let listener: LoopbackListener
  private let log = Mutex<(connections: Int, requests: [WireRequest])>((0, []))

  /// The server's origin.
  package var origin: String { "http://127.0.0.1:\(port)" }
  /// The number of connections.
  package var connections: Int { log.withLock { $0.connections } }
  /// The complete requests.
  package var requests: [WireRequest] { log.withLock { $0.requests } }
  /// Their heads.
  package var heads: [String] { requests.map(\.head) }

  /// Runs a body with a server, and stops it.
  ///
  /// - Parameter hangsUp: Whether the server ends the connection after one answer.
  package static func with(
    hangsUp: Bool = false, _ answer: @escaping Answer, _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    try await following(
      { request, send in
        answer(request.head, send)
        return !hangsUp
      }, body)
  }

  /// Runs a body with a server that follows a script, and stops it.
  package static func following(
    _ script: @escaping WireScript, _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer()
    server.listen(script)
    defer { server.listener.stop() }
    try await body(server)
  }

  /// Returns a constant answer.
  package static func fixed(_ text: String) -> Answer { { _, send in _ = send(Array(text.utf8)) } }

  private init() throws {
    listener = try LoopbackListener()
  }

  private func listen(_ script: @escaping WireScript) {
    listener.serve { [self] connection in
      log.withLock { $0.connections += 1 }
      serve(connection, script)
      connection.close()
    }
  }

  private func serve(_ connection: StreamSocket, _ script: WireScript) {
    var pending: [UInt8] = []
    while true {
      while let request = HTTPText.takeRequest(from: &pending) {
        log.withLock { $0.requests.append(request) }
        let isKept = script(request) { bytes in connection.send(bytes) }
        if !isKept || request.head.lowercased().contains("\r\nconnection: close\r\n") { return }
      }
      let bytes = connection.received()
      guard !bytes.isEmpty else { return }
      pending += bytes
    }
  }
}
