import Foundation

/// One end of a connection on this machine, with blocking calls.
///
/// For servers on threads of their own.
struct LoopbackSocket: Sendable {
  let descriptor: Int32

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #else
    private static let stream = SOCK_STREAM
    private static let sendFlags: Int32 = 0
  #endif

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Listens on a free port.
  static func listening(backlog: Int32 = 64) throws -> (socket: LoopbackSocket, port: Int) {
    let descriptor = socket(AF_INET, stream, 0)
    var address = place(port: 0)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound, listen(descriptor, backlog) == 0 else { throw CocoaError(.fileReadUnknown) }
    return (LoopbackSocket(descriptor), Int(UInt16(bigEndian: address.sin_port)))
  }

  /// Connects to a port.
  static func connected(to port: Int) throws -> LoopbackSocket {
    let descriptor = socket(AF_INET, stream, 0)
    var address = place(port: port)
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isConnected = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) == 0 }
    }
    guard isConnected else {
      Foundation.close(descriptor)
      throw CocoaError(.fileReadUnknown)
    }
    return LoopbackSocket(descriptor)
  }

  private static func place(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(clamping: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// The next connection; `nil` once the listener has stopped.
  func accepted() -> LoopbackSocket? {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return nil }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    return LoopbackSocket(connection)
  }

  /// Some received bytes; none at the end.
  func received() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? Array(buffer[..<count]) : []
  }

  /// Sends bytes; returns `false` once the peer is gone.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Self.sendFlags)
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Ends the outgoing direction.
  func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends the connection, and wakes threads that wait for it.
  func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes the descriptor. Its number may be reused, so no other thread may still use it.
  func close() {
    shutDown()
    Foundation.close(descriptor)
  }

  /// Ends the connection with an error for the peer.
  func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    Foundation.close(descriptor)
  }
}
