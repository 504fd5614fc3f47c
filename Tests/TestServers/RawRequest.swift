import CanonicalSyncListening

/// Bytes to a port of this machine, as no client sends them.
package enum RawRequest {
  /// Sends text, and returns all that comes back until the server ends the connection.
  package static func answer(to text: String, port: Int, inHalves: Bool = false) throws -> String {
    let socket = try StreamSocket.connected(to: port)
    defer { socket.close() }
    let bytes = Array(text.utf8)
    let middle = inHalves ? bytes.count / 3 : bytes.count
    for part in [bytes[..<middle], bytes[middle...]] where !part.isEmpty { socket.send(Array(part)) }
    var answer: [UInt8] = []
    while true {
      let more = socket.received()
      if more.isEmpty { return String(decoding: answer, as: UTF8.self) }
      answer += more
    }
  }
}
