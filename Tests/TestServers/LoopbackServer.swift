import Foundation
import Synchronization

/// A server on a free loopback port that says whatever a test wants, byte for byte.
package final class LoopbackServer: Sendable {
  /// What to do with one request, given its head; the function sends bytes, and returns `false` once nobody takes them.
  package typealias Answer = @Sendable (_ head: String, _ send: ([UInt8]) -> Bool) -> Void

  /// The port.
  package let port: Int
  private let listener: LoopbackSocket
  private let log = Mutex<(connections: Int, heads: [String])>((0, []))

  /// The server's origin.
  package var origin: String { "http://127.0.0.1:\(port)" }
  /// How many connections were made.
  package var connections: Int { log.withLock { $0.connections } }
  /// The heads of the requests that came.
  package var heads: [String] { log.withLock { $0.heads } }

  /// Runs a body with a server, and stops it.
  ///
  /// - Parameter hangsUp: Whether the server ends the connection after one answer.
  package static func with(
    hangsUp: Bool = false, _ answer: @escaping Answer, _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer()
    server.listen(answer, hangsUp: hangsUp)
    defer { server.listener.close() }
    try await body(server)
  }

  /// An answer that is always the same.
  package static func fixed(_ text: String) -> Answer { { _, send in _ = send(Array(text.utf8)) } }

  private init() throws {
    (listener, port) = try LoopbackSocket.listening()
  }

  private func listen(_ answer: @escaping Answer, hangsUp: Bool) {
    let listener = listener
    Thread.detachNewThread { [self] in
      while let connection = listener.accepted() {
        log.withLock { $0.connections += 1 }
        Thread.detachNewThread { [self] in
          serve(connection, answer, hangsUp: hangsUp)
          connection.close()
        }
      }
    }
  }

  private func serve(_ connection: LoopbackSocket, _ answer: Answer, hangsUp: Bool) {
    var pending: [UInt8] = []
    while true {
      while let end = HTTPText.endOfHead(pending) {
        let head = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeFirst(end)
        log.withLock { $0.heads.append(head) }
        answer(head) { bytes in connection.send(bytes) }
        if hangsUp || head.lowercased().contains("\r\nconnection: close\r\n") { return }
      }
      let bytes = connection.received()
      guard !bytes.isEmpty else { return }
      pending += bytes
    }
  }
}
