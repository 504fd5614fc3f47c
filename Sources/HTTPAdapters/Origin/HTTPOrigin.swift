/// Where a server is: scheme, host and port. Credentials are given to one origin and go to no other.
public struct HTTPOrigin: Hashable, Sendable {
  /// Whether the connection is encrypted.
  public let isSecure: Bool
  /// The name or the number, in lower case; an IPv6 number in brackets.
  public let host: String
  /// The port.
  public let port: Int
}

extension HTTPOrigin: CustomStringConvertible {
  /// The origin as addresses begin, without the port where it is the usual one.
  public var description: String {
    let usual = port == (isSecure ? 443 : 80)
    return "\(isSecure ? "https" : "http")://\(host)\(usual ? "" : ":\(port)")"
  }
}
