import CanonicalSyncListening

/// A port on this machine that accepts no more connections.
package enum FullPort {
  /// Runs a body with such a port.
  package static func with(_ body: (Int) async throws -> Void) async throws {
    let (listener, port) = try StreamSocket.listening(backlog: 0)
    let first = try StreamSocket.connected(to: port)
    defer {
      first.close()
      listener.close()
    }
    try await body(port)
  }
}
