import CanonicalSyncListening
import SyncConformance

/// A request or an answer as bytes: its head and its body.
struct HTTPText: Sendable {
  var head: String
  var body: [UInt8]

  /// The end of a message's head, with its empty line.
  static func endOfHead(_ bytes: [UInt8]) -> Int? {
    guard bytes.count >= 4 else { return nil }
    return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
  }

  /// Removes a complete request from the front of the received bytes; otherwise `nil`.
  static func takeRequest(from pending: inout [UInt8]) -> WireRequest? {
    guard let end = endOfHead(pending) else { return nil }
    let text = HTTPText(head: String(decoding: pending[..<end], as: UTF8.self), body: [])
    let length = text["content-length"].flatMap { Int($0) } ?? 0
    guard pending.count >= end + length else { return nil }
    defer { pending.removeFirst(end + length) }
    return WireRequest(head: text.head, body: Array(pending[end..<(end + length)]))
  }

  private init(head: String, body: [UInt8]) {
    self.head = head
    self.body = body
  }

  /// Reads a complete message; `nil` if the connection ends before its head does.
  init?(from socket: StreamSocket, endsWithConnection: Bool) {
    var bytes: [UInt8] = []
    while Self.endOfHead(bytes) == nil {
      let more = socket.received()
      guard !more.isEmpty else { return nil }
      bytes += more
    }
    guard let end = Self.endOfHead(bytes) else { return nil }
    head = String(decoding: bytes[..<end], as: UTF8.self)
    body = Array(bytes[end...])
    let length = self["content-length"].flatMap { Int($0) }
    while endsWithConnection || body.count < length ?? 0 {
      let more = socket.received()
      guard !more.isEmpty else { break }
      body += more
    }
  }

  /// Creates a message with a matching length, for a connection that ends after it.
  init(_ firstLine: String, _ headers: [String], body: [UInt8]) {
    head =
      ([firstLine] + headers + ["Content-Length: \(body.count)", "Connection: close"])
      .joined(separator: "\r\n") + "\r\n\r\n"
    self.body = body
  }

  /// The value of a header.
  subscript(name: String) -> String? {
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), line[..<colon].lowercased() == name else { continue }
      return String(line[line.index(after: colon)...].drop { $0 == " " })
    }
    return nil
  }

  /// The lines of the head. (A carriage return and a line feed are one character.)
  var lines: [Substring] { head.split(separator: "\r\n") }

  /// The method and the target.
  var target: String { lines.first.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } ?? "" }

  /// The message with new headers for length and connection.
  func framed(_ body: [UInt8]) -> HTTPText {
    let kept = lines.dropFirst().map(String.init).filter { line in
      let name = line.prefix { $0 != ":" }.lowercased()
      return name != "content-length" && name != "connection" && name != "transfer-encoding"
    }
    return HTTPText(lines.first.map(String.init) ?? "", kept, body: body)
  }

  var bytes: [UInt8] { Array(head.utf8) + body }
}
