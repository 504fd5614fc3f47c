import Foundation

#if os(Linux)
  // When this module's files are compiled together, the socket constants come from its headers.
  import CanonicalSyncCNetlink
#endif

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
