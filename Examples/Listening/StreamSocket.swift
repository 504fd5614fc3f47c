import Foundation

/// One end of a connection, with blocking calls.
///
/// For servers on threads of their own.
package struct StreamSocket: Sendable {
  package let descriptor: Int32

  #if canImport(Glibc)
    private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    private static let sendFlags = Int32(MSG_NOSIGNAL)
  #else
    private static let stream = SOCK_STREAM
    private static let sendFlags: Int32 = 0
  #endif

  package init(_ descriptor: Int32) { self.descriptor = descriptor }

  /// Listens on a port; on a free one for port 0.
  ///
  /// - Parameter host: An IPv4 address of this machine.
  package static func listening(
    on host: String = "127.0.0.1", port: Int = 0, backlog: Int32 = 64
  ) throws -> (socket: StreamSocket, port: Int) {
    let descriptor = socket(AF_INET, stream, 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = place(port: port)
    guard inet_pton(AF_INET, host, &address.sin_addr) == 1 else {
      errno = EADDRNOTAVAIL
      throw failure(descriptor)
    }
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    guard isBound, listen(descriptor, backlog) == 0 else { throw failure(descriptor) }
    return (StreamSocket(descriptor), Int(UInt16(bigEndian: address.sin_port)))
  }

  /// The reason of the last failed call; closes its descriptor.
  private static func failure(_ descriptor: Int32) -> POSIXError {
    let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    Foundation.close(descriptor)
    return error
  }

  /// Connects to a port.
  package static func connected(to port: Int) throws -> StreamSocket {
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
    return StreamSocket(descriptor)
  }

  private static func place(port: Int) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(clamping: port).bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return address
  }

  /// The next connection; `nil` once the listener has stopped.
  package func accepted() -> StreamSocket? {
    let connection = accept(descriptor, nil, nil)
    guard connection >= 0 else { return nil }
    _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
    return StreamSocket(connection)
  }

  /// Bounds the waits for the peer, and sends small answers at once.
  package func setPatience(seconds: Int) {
    var patience = timeval(tv_sec: time_t(seconds), tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var yes: Int32 = 1
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Some received bytes; none at the end, and after the patience is over.
  package func received() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
      count = max(0, recv(descriptor, buffer.baseAddress, buffer.count, 0))
    }
  }

  /// Sends bytes; returns `false` once the peer is gone.
  @discardableResult
  package func send(_ bytes: [UInt8]) -> Bool {
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
  package func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends the connection, and wakes threads that wait for it.
  package func shutDown() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  /// Closes the descriptor. Its number may be reused, so no other thread may still use it.
  package func close() {
    shutDown()
    Foundation.close(descriptor)
  }

  /// Ends the connection with an error for the peer.
  package func reset() {
    var linger = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout.size(ofValue: linger)))
    Foundation.close(descriptor)
  }
}
