import Foundation
import Synchronization

/// A free port on this machine, and the thread that takes the connections made to it.
final class LoopbackListener: Sendable {
  let port: Int
  private let socket: LoopbackSocket
  private let isStopped = Mutex(false)

  /// Listens; connections wait until they are served.
  init() throws {
    (socket, port) = try LoopbackSocket.listening()
  }

  /// Serves each connection on a thread of its own, until it is stopped.
  func serve(_ body: @escaping @Sendable (LoopbackSocket) -> Void) {
    Thread.detachNewThread { [self] in
      while let connection = socket.accepted() {
        guard !isStopped.withLock({ $0 }) else {
          connection.close()
          break
        }
        Thread.detachNewThread { body(connection) }
      }
      // By this thread alone: its number may be another socket's the moment that it is closed.
      socket.close()
    }
  }

  /// Takes no more connections.
  func stop() {
    isStopped.withLock { $0 = true }
    // It waits for a connection. Where none can be made, there is none left to take either.
    try? LoopbackSocket.connected(to: port).close()
  }
}
