import Foundation
import Synchronization

/// A server on a free loopback port that says whatever a test wants, byte for byte.
final class LoopbackServer: Sendable {
  /// What to do with one request, given its head; the function sends bytes, and returns `false` once nobody takes them.
  typealias Answer = @Sendable (_ head: String, _ send: ([UInt8]) -> Bool) -> Void

  let port: Int
  private let listener: Int32
  private let log = Mutex<(connections: Int, heads: [String])>((0, []))

  /// The server's origin.
  var origin: String { "http://127.0.0.1:\(port)" }
  var connections: Int { log.withLock { $0.connections } }
  var heads: [String] { log.withLock { $0.heads } }

  /// Runs a body with a server, and stops it.
  static func with(
    _ answer: @escaping Answer, _ body: (LoopbackServer) async throws -> Void
  ) async throws {
    let server = try LoopbackServer()
    server.listen(answer)
    defer { server.stop() }
    try await body(server)
  }

  /// An answer that is always the same.
  static func fixed(_ text: String) -> Answer { { _, send in _ = send(Array(text.utf8)) } }

  private init() throws {
    #if canImport(Glibc)
      listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      listener = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let descriptor = listener
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound, Foundation.listen(descriptor, 16) == 0 else { throw CocoaError(.fileReadUnknown) }
    port = Int(UInt16(bigEndian: address.sin_port))
  }

  private func listen(_ answer: @escaping Answer) {
    let listener = listener
    Thread.detachNewThread { [self] in
      while true {
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { return }
        log.withLock { $0.connections += 1 }
        Thread.detachNewThread { [self] in
          serve(connection, answer)
          close(connection)
        }
      }
    }
  }

  private func stop() {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }

  private func serve(_ connection: Int32, _ answer: Answer) {
    var pending: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while true {
      while let end = Self.endOfHead(pending) {
        let head = String(decoding: pending[..<end], as: UTF8.self)
        pending.removeFirst(end)
        log.withLock { $0.heads.append(head) }
        answer(head) { bytes in Self.send(bytes, to: connection) }
      }
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return }
      pending += buffer[..<count]
    }
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
  }

  private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        #if canImport(Glibc)
          Foundation.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        #else
          Foundation.send(connection, $0.baseAddress, $0.count, 0)
        #endif
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }
}
