import Dispatch
import Foundation

#if os(Linux)
  // When this module's files are compiled together, the socket constants come from its headers.
  import CanonicalSyncCNetlink
#endif

/// One attempt to open a TCP connection.
struct ConnectionAttempt {
  private let address: SocketAddress

  private static let queue = DispatchQueue(label: "probes", qos: .utility)

  init(at address: SocketAddress) {
    self.address = address
  }

  /// Opens a connection and closes it; `false` on failure or cancellation.
  func isAnswered() async -> Bool {
    guard let descriptor = Self.openSocket(address.family) else { return false }
    switch connect(descriptor) {
    case 0:
      close(descriptor)
      return true
    case EINPROGRESS:
      return await isConnected(descriptor)
    default:
      close(descriptor)
      return false
    }
  }

  /// Waits until a started connection is open or has failed, and closes it.
  private func isConnected(_ descriptor: Int32) async -> Bool {
    let answer = Answer<Bool>(ifCancelled: false)
    let source = DispatchSource.makeWriteSource(fileDescriptor: descriptor, queue: Self.queue)
    source.setEventHandler {
      var error: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      let result = getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length)
      answer.give(result == 0 && error == 0)
    }
    // Closed no sooner: while the source watches the descriptor, its number must not be reused.
    source.setCancelHandler { close(descriptor) }
    let isConnected = await answer.wait { source.resume() }
    source.cancel()
    return isConnected
  }

  /// Starts to connect; returns the error number, or zero.
  private func connect(_ descriptor: Int32) -> Int32 {
    address.bytes.withUnsafeBytes { bytes in
      guard let start = bytes.bindMemory(to: sockaddr.self).baseAddress else { return EINVAL }
      return Foundation.connect(descriptor, start, socklen_t(bytes.count)) == 0 ? 0 : errno
    }
  }

  /// Opens a non-blocking socket that child processes do not inherit.
  private static func openSocket(_ family: Int32) -> Int32? {
    #if canImport(Glibc)
      let descriptor = socket(family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #else
      let descriptor = socket(family, SOCK_STREAM, 0)
    #endif
    guard descriptor >= 0 else { return nil }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }
}

/// A socket address in the system's format.
struct SocketAddress: Hashable {
  var family: Int32
  /// A `sockaddr` of the family.
  var bytes: [UInt8]

  /// The addresses of a host, in the system's order; none for an unknown name.
  static func lookUp(_ host: String, _ port: UInt16) -> [SocketAddress] {
    var hints = addrinfo()
    #if canImport(Glibc)
      hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    #else
      hints.ai_socktype = SOCK_STREAM
    #endif
    hints.ai_flags = AI_NUMERICSERV
    var list: UnsafeMutablePointer<addrinfo>?
    guard getaddrinfo(host, String(port), &hints, &list) == 0 else { return [] }
    defer { freeaddrinfo(list) }
    var addresses: [SocketAddress] = []
    var entry = list
    while let info = entry?.pointee {
      let bytes = UnsafeRawBufferPointer(start: info.ai_addr, count: Int(info.ai_addrlen))
      addresses.append(SocketAddress(family: info.ai_family, bytes: Array(bytes)))
      entry = info.ai_next
    }
    return addresses
  }
}
