/// The scheme, host and port of a server. Credentials go to one origin alone.
public struct HTTPOrigin: Hashable, Sendable {
  /// Whether the connection is encrypted.
  public let isSecure: Bool
  /// The host's name or IP address, in lower case; an IPv6 address in brackets.
  public let host: String
  /// The port.
  public let port: Int

  /// Whether requests to this origin stay on this machine.
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }
}

extension HTTPOrigin: CustomStringConvertible {
  /// The origin as text, without the default port.
  public var description: String {
    let usual = port == (isSecure ? 443 : 80)
    return "\(isSecure ? "https" : "http")://\(host)\(usual ? "" : ":\(port)")"
  }
}
