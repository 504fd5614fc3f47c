import Foundation

/// An absolute `http` or `https` address, parsed strictly, so that its origin is unambiguous.
///
/// It has no user, no fragment, and only bytes that RFC 3986 allows.
public struct HTTPAddress: Hashable, Sendable {
  /// The scheme, host and port.
  public let origin: HTTPOrigin
  /// The path, which begins with a slash.
  public let path: String
  /// The text after the question mark; `nil` without one.
  public let query: String?

  /// Creates an address from its parts.
  package init(_ origin: HTTPOrigin, path: String, query: String? = nil) {
    self.origin = origin
    self.path = path
    self.query = query
  }

  /// Parses an address; `nil` for an invalid one.
  public init?(_ text: String) {
    guard text.utf8.allSatisfy(Self.mayOccur) else { return nil }
    let isSecure: Bool
    let rest: Substring
    if let after = text.dropping(prefix: "https://") {
      (isSecure, rest) = (true, after)
    } else if let after = text.dropping(prefix: "http://") {
      (isSecure, rest) = (false, after)
    } else {
      return nil
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    guard let (host, port) = Self.place(authority) else { return nil }
    origin = HTTPOrigin(isSecure: isSecure, host: host, port: port ?? (isSecure ? 443 : 80))
    let target = rest[authority.endIndex...]
    let path = target.prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
    query = path.endIndex == target.endIndex ? nil : String(target[path.endIndex...].dropFirst())
  }

  /// The address that a reference in an answer means (RFC 3986, section 5.2).
  ///
  /// A fragment is dropped. Characters that no address has, such as spaces, are encoded as browsers do.
  /// `nil` for an invalid reference.
  package func resolving(_ text: String) -> HTTPAddress? {
    let written = text.prefix { $0 != "#" }
    if written.isEmpty { return text.isEmpty ? nil : self }
    let reference = Self.sendable(written)
    let scheme = origin.isSecure ? "https" : "http"
    let whole: HTTPAddress?
    if reference.hasPrefix("//") {
      whole = HTTPAddress("\(scheme):\(reference)")
    } else if reference.hasPrefix("/") {
      whole = HTTPAddress("\(origin)\(reference)")
    } else if reference.hasPrefix("?") {
      return HTTPAddress("\(origin)\(path)\(reference)")
    } else if reference.prefix(while: { $0 != "/" && $0 != "?" }).contains(":") {
      whole = HTTPAddress(reference)
    } else {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      whole = HTTPAddress("\(origin)\(folder.joined(separator: "/"))/\(reference)")
    }
    guard let whole else { return nil }
    return HTTPAddress(whole.origin, path: Self.withoutDots(whole.path), query: whole.query)
  }

  /// A reference in which every character that no address has is encoded.
  private static func sendable(_ text: Substring) -> String {
    let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if trimmed.utf8.allSatisfy(mayOccur) { return trimmed }
    return trimmed.unicodeScalars.reduce(into: "") { result, scalar in
      if "\t\n\r".unicodeScalars.contains(scalar) { return }
      let character = String(scalar)
      result += character.utf8.allSatisfy(mayOccur) ? character : PercentEncoding.encoded(character)
    }
  }

  /// A path without the segments `.` and `..`, encoded or not (RFC 3986, section 5.2.4).
  private static func withoutDots(_ path: String) -> String {
    guard path.contains("/.") || path.lowercased().contains("/%2e") else { return path }
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    var kept: [Substring] = []
    for (index, segment) in segments.enumerated() {
      let dots = segment.lowercased().replacing("%2e", with: ".")
      guard dots == "." || dots == ".." else {
        kept.append(segment)
        continue
      }
      if dots == "..", !kept.isEmpty { kept.removeLast() }
      if index == segments.count - 1 { kept.append("") }
    }
    return "/" + kept.joined(separator: "/")
  }

  /// The address without some parameters of its query.
  package func without(_ names: [String]) -> HTTPAddress {
    guard let query, !names.isEmpty else { return self }
    let parts = query.split(separator: "&", omittingEmptySubsequences: false)
    let kept = parts.filter { part in
      let name = part.prefix { $0 != "=" }.replacing("+", with: " ")
      return !names.contains(PercentEncoding.decoded(name) ?? String(name))
    }
    guard kept.count < parts.count else { return self }
    return HTTPAddress(origin, path: path, query: kept.isEmpty ? nil : kept.joined(separator: "&"))
  }

  /// The address with a further parameter at the end of its query.
  package func adding(_ name: String, _ value: String) -> HTTPAddress {
    let added = "\(PercentEncoding.encoded(name))=\(PercentEncoding.encoded(value))"
    let query = query.map { $0.isEmpty ? added : "\($0)&\(added)" } ?? added
    return HTTPAddress(origin, path: path, query: query)
  }

  private static func place(_ authority: Substring) -> (host: String, port: Int?)? {
    var host = authority
    var port: Int?
    if let colon = authority.lastIndex(of: ":"), !authority.hasSuffix("]") {
      host = authority[..<colon]
      let digits = authority[colon...].dropFirst()
      guard (1...5).contains(digits.utf8.count), digits.utf8.allSatisfy(isDigit), let number = Int(digits),
        (1...65535).contains(number)
      else { return nil }
      port = number
    }
    let isNumber = host.hasPrefix("[") && host.hasSuffix("]")
    let name = isNumber ? host.dropFirst().dropLast() : host
    guard !name.isEmpty,
      name.utf8.allSatisfy({
        isLetter($0) || isDigit($0) || $0 == UInt8(ascii: ".")
          || (isNumber ? $0 == UInt8(ascii: ":") : $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_"))
      })
    else { return nil }
    return (host.lowercased(), port)
  }

  /// Whether a byte is unreserved, reserved or a percent sign.
  ///
  /// A number sign or a backslash may not occur.
  private static func mayOccur(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "-._~%:/?[]@!$&'()*+,;=".utf8.contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}

extension HTTPAddress: CustomStringConvertible {
  /// The address as text.
  public var description: String { "\(origin)\(path)\(query.map { "?\($0)" } ?? "")" }
}

extension String {
  /// The rest after a prefix of ASCII letters, in any case.
  fileprivate func dropping(prefix: String) -> Substring? {
    self.prefix(prefix.count).lowercased() == prefix ? dropFirst(prefix.count) : nil
  }
}

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

/// Percent encoding of all bytes that have a meaning in a query.
package enum PercentEncoding {
  private static let unreserved = CharacterSet(
    charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")

  /// Encodes all but letters, digits and `-._~`.
  package static func encoded(_ text: String) -> String {
    text.addingPercentEncoding(withAllowedCharacters: unreserved) ?? ""
  }

  /// Decodes text; `nil` if a percent sign is not followed by two digits.
  package static func decoded(_ text: some StringProtocol) -> String? { text.removingPercentEncoding }
}
