import CanonicalSyncListening
import Foundation
import Synchronization

/// A proxy on loopback that ends its first connection after a number of bytes, or none.
///
/// The bytes of the answer count, whatever their meaning. Connections go to its servers in turn, past
/// those that take none.
package final class CutProxy: Sendable {
  /// The port.
  package var port: Int { listener.port }
  /// The most bytes of answers that passed on one connection.
  package var longest: Int { state.withLock { $0.longest } }

  private let listener: LoopbackListener
  private let upstreams: [Int]
  private let cut: Int
  private let state = Mutex((connections: 0, longest: 0))

  /// Runs a body with a proxy before servers on this machine, and stops it.
  package static func with(
    _ upstreams: Int..., cuttingAfter cut: Int = .max, _ body: (CutProxy) async throws -> Void
  ) async throws {
    let proxy = try CutProxy(upstreams, cut)
    proxy.listener.serve { proxy.serve($0) }
    defer { proxy.listener.stop() }
    try await body(proxy)
  }

  private init(_ upstreams: [Int], _ cut: Int) throws {
    listener = try LoopbackListener()
    self.upstreams = upstreams
    self.cut = cut
  }

  private func serve(_ client: StreamSocket) {
    let number = state.withLock { state in
      state.connections += 1
      return state.connections
    }
    let isFirst = number == 1
    defer { client.close() }
    let turns = (0..<upstreams.count).lazy.map { self.upstreams[(number + $0) % self.upstreams.count] }
    guard let server = turns.compactMap({ try? StreamSocket.connected(to: $0) }).first else { return }
    let hasPassed = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      Self.pass(from: client, to: server)
      hasPassed.signal()
    }
    passAnswer(from: server, to: client, limit: isFirst ? cut : .max)
    client.shutDown()
    server.shutDown()
    // Both are closed once no thread uses their descriptors.
    hasPassed.wait()
    server.close()
  }

  private static func pass(from client: StreamSocket, to server: StreamSocket) {
    while true {
      let bytes = client.received()
      guard !bytes.isEmpty, server.send(bytes) else { return server.finishSending() }
    }
  }

  private func passAnswer(from server: StreamSocket, to client: StreamSocket, limit: Int) {
    var count = 0
    while count < limit {
      let bytes = server.received().prefix(limit - count)
      guard !bytes.isEmpty, client.send(Array(bytes)) else { return }
      count += bytes.count
      state.withLock { $0.longest = max($0.longest, count) }
    }
  }
}
