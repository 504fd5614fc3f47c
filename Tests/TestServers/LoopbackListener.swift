import CanonicalSyncListening
import Foundation
import Synchronization

/// A free port on this machine, and the thread that accepts its connections.
final class LoopbackListener: Sendable {
  let port: Int
  private let socket: StreamSocket
  private let isStopped = Mutex(false)

  /// Starts listening. Connections wait until they are served.
  init() throws {
    (socket, port) = try StreamSocket.listening()
  }

  /// Serves each connection on a thread of its own, until the listener stops.
  func serve(_ body: @escaping @Sendable (StreamSocket) -> Void) {
    Thread.detachNewThread { [self] in
      while let connection = socket.accepted() {
        guard !isStopped.withLock({ $0 }) else {
          connection.close()
          break
        }
        Thread.detachNewThread { body(connection) }
      }
      // Closed by this thread alone: once closed, its number may be another socket's.
      socket.close()
    }
  }

  /// Stops accepting connections.
  func stop() {
    isStopped.withLock { $0 = true }
    // The thread waits for a connection. If none can be made, there is none left to accept either.
    try? StreamSocket.connected(to: port).close()
  }
}
