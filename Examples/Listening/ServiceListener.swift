import Dispatch
import Foundation
package import SyncServing
import Synchronization

/// Answers HTTP/1.1 requests on a port of this machine, within bounds.
///
/// It has no TLS: behind a proxy that has, or on a loopback address. Each connection has a thread of
/// its own, which a slow client may hold up.
package final class ServiceListener: Sendable {
  /// The bounds of what one client may take.
  package struct Limits: Sendable {
    package var connections = 1024
    package var headBytes = 32 << 10
    package var bodyBytes = 16 << 20
    /// The time that a client may leave a connection silent, and take for one request.
    package var seconds = 60

    package init() {}
  }

  package typealias Answer = @Sendable (ServiceRequest) async -> ServiceResponse

  /// The port.
  package let port: Int
  private let listening: StreamSocket
  private let limits: Limits
  private let answer: Answer
  private let state = Mutex(State())

  private struct State {
    var isStopped = false
    /// The open connections, and whether each is in the middle of a request.
    var connections: [Int32: Bool] = [:]
  }

  /// Starts to listen.
  ///
  /// - Parameters:
  ///   - host: An IPv4 address of this machine.
  ///   - port: The port; 0 for a free one.
  /// - Throws: The system's error.
  package init(
    host: String = "127.0.0.1", port: Int = 0, limits: Limits = Limits(), answer: @escaping Answer
  ) throws {
    (listening, self.port) = try StreamSocket.listening(on: host, port: port, backlog: 512)
    (self.limits, self.answer) = (limits, answer)
    Thread.detachNewThread { [self] in
      while let connection = accepted() { begin(connection) }
      listening.close()
    }
  }

  private func accepted() -> StreamSocket? {
    while !state.withLock({ $0.isStopped }) {
      if let connection = listening.accepted() { return connection }
      // Without free descriptors, each attempt would fail at once.
      if !state.withLock({ $0.isStopped }) { Thread.sleep(forTimeInterval: 0.05) }
    }
    return nil
  }

  /// Accepts no more connections, and ends those without a request.
  ///
  /// - Returns: Whether all requests were answered within the time.
  @discardableResult
  package func stop(within seconds: Double = 10) -> Bool {
    state.withLock { state in
      state.isStopped = true
      for (descriptor, isBusy) in state.connections where !isBusy { StreamSocket(descriptor).shutDown() }
    }
    listening.shutDown()
    let end = Date().addingTimeInterval(seconds)
    // Connections that ended above, or that streams hold, may take their time.
    while state.withLock({ $0.connections.values.contains(true) }), Date() < end {
      Thread.sleep(forTimeInterval: 0.01)
    }
    return state.withLock { state in
      for descriptor in state.connections.keys { StreamSocket(descriptor).shutDown() }
      return !state.connections.values.contains(true)
    }
  }

  private func begin(_ connection: StreamSocket) {
    connection.setPatience(seconds: limits.seconds)
    let isTaken = state.withLock { state in
      guard !state.isStopped, state.connections.count < limits.connections else { return false }
      state.connections[connection.descriptor] = false
      return true
    }
    guard isTaken else {
      connection.send(Self.refusal(503, "Too many connections. Try again later.", ["Retry-After: 3"]))
      return connection.close()
    }
    Thread.detachNewThread { [self] in
      serve(connection)
      // Forgotten before it is closed: its number may then be another connection's.
      state.withLock { $0.connections[connection.descriptor] = nil }
      connection.close()
    }
  }

  /// Notes whether a connection is in the middle of a request; `false` if it should end.
  private func mark(_ connection: StreamSocket, busy: Bool) -> Bool {
    state.withLock { state in
      state.connections[connection.descriptor] = busy
      return busy || !state.isStopped
    }
  }

  private func serve(_ connection: StreamSocket) {
    var pending: [UInt8] = []
    while mark(connection, busy: false) {
      let isKept: Bool
      switch read(from: connection, &pending) {
      case .request(let request, let keepsAlive):
        let response = wait { [answer] in await answer(request) }
        isKept = send(response, to: connection, isHead: request.method == "HEAD", keepsAlive: keepsAlive)
      case .refused(let bytes):
        connection.send(bytes)
        connection.finishSending()
        // What the client still sends would make the system throw away the answer.
        var rest = 64
        while rest > 0, !connection.received().isEmpty { rest -= 1 }
        isKept = false
      case .ended: isKept = false
      }
      if !isKept { return }
    }
  }

  private enum Reading {
    case request(ServiceRequest, keepsAlive: Bool)
    case refused([UInt8])
    case ended
  }

  /// Reads one request.
  private func read(from connection: StreamSocket, _ pending: inout [UInt8]) -> Reading {
    var end: Date?
    func more() -> Bool {
      let bytes = connection.received()
      if !pending.isEmpty || !bytes.isEmpty { _ = mark(connection, busy: true) }
      // The time of a request begins with its first byte.
      let deadline = end ?? Date().addingTimeInterval(TimeInterval(limits.seconds))
      end = deadline
      pending += bytes
      return !bytes.isEmpty && Date() < deadline
    }
    var searched = 0
    var headEnd: Int?
    while headEnd == nil {
      headEnd = Self.endOfHead(pending, from: &searched)
      if headEnd ?? pending.count > limits.headBytes {
        return .refused(Self.refusal(431, "The headers are longer than \(limits.headBytes) bytes."))
      }
      if headEnd == nil, !more() { return .ended }
    }
    _ = mark(connection, busy: true)
    guard let headEnd, let head = RequestHead(pending[..<headEnd]) else {
      return .refused(Self.refusal(400, "The request is not HTTP/1.1."))
    }
    pending.removeFirst(headEnd)
    guard head.headers["transfer-encoding"] == nil else {
      return .refused(Self.refusal(411, "The request needs a Content-Length."))
    }
    guard head.bodyLength <= limits.bodyBytes else {
      return .refused(Self.refusal(413, "The body is longer than \(limits.bodyBytes) bytes."))
    }
    if head.headers["expect"]?.lowercased() == "100-continue", pending.count < head.bodyLength {
      connection.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    while pending.count < head.bodyLength { if !more() { return .ended } }
    let body = Array(pending.prefix(head.bodyLength))
    pending.removeFirst(head.bodyLength)
    return .request(
      ServiceRequest(head.method, head.target, headers: head.headers, body: body), keepsAlive: head.keepsAlive
    )
  }

  /// The length of a head with its empty line, if it is there.
  private static func endOfHead(_ bytes: [UInt8], from searched: inout Int) -> Int? {
    var place = max(0, searched - 3)
    while place + 4 <= bytes.count {
      if bytes[place] == 13, bytes[place + 1] == 10, bytes[place + 2] == 13, bytes[place + 3] == 10 {
        return place + 4
      }
      place += 1
    }
    searched = bytes.count
    return nil
  }

  /// Sends an answer; `false` if the connection ends with it.
  private func send(
    _ response: ServiceResponse, to connection: StreamSocket, isHead: Bool, keepsAlive: Bool
  ) -> Bool {
    let isKept = keepsAlive && state.withLock { !$0.isStopped }
    var head = "HTTP/1.1 \(response.status) \(Self.reasons[response.status] ?? "Status")\r\n"
    for (name, value) in response.headers.sorted(by: { $0.key < $1.key }) {
      // A line break in a value would begin another header.
      head += "\(name): \(value.filter { !$0.isNewline })\r\n"
    }
    switch response.body {
    case .bytes(let body):
      // A 304 has no body, and the length of a body that HEAD leaves out is not known.
      if !isHead, response.status != 304 { head += "Content-Length: \(body.count)\r\n" }
      head += "Connection: \(isKept ? "keep-alive" : "close")\r\n\r\n"
      return connection.send(Array(head.utf8) + body) && isKept
    case .stream(let next):
      guard connection.send(Array((head + "Connection: close\r\n\r\n").utf8)) else { return false }
      while mark(connection, busy: false), let part = wait({ await next() }) {
        if !connection.send(part) { break }
      }
      return false
    }
  }

  /// Runs a task, and blocks this thread of the connection until it has a result.
  private func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
    let box = ResultBox<Value>()
    Task {
      let value = await body()
      box.result.withLock { $0 = value }
      box.isThere.signal()
    }
    while true {
      box.isThere.wait()
      if let value = box.result.withLock({ $0 }) { return value }
    }
  }

  /// A refusal of the listener's own, in the shape of the service's.
  private static func refusal(_ status: Int, _ message: String, _ headers: [String] = []) -> [UInt8] {
    let errno = status == 413 ? 113 : status == 503 ? 201 : 107
    let body =
      #"{"code":\#(status),"errno":\#(errno),"error":"\#(reasons[status] ?? "")","message":"\#(message)"}"#
    let head =
      ["HTTP/1.1 \(status) \(reasons[status] ?? "Status")", "Content-Type: application/json"] + headers + [
        "Content-Length: \(body.utf8.count)", "Connection: close",
      ]
    return Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
  }

  private static let reasons = [
    200: "OK", 201: "Created", 304: "Not Modified", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden",
    404: "Not Found", 405: "Method Not Allowed", 411: "Length Required", 412: "Precondition Failed",
    413: "Content Too Large", 415: "Unsupported Media Type", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 503: "Service Unavailable",
  ]
}

/// Where a task leaves its result for a thread.
private final class ResultBox<Value: Sendable>: Sendable {
  let result = Mutex<Value?>(nil)
  let isThere = DispatchSemaphore(value: 0)
}

/// The first line and the headers of a request.
private struct RequestHead {
  var method: String
  var target: String
  var headers: [String: String] = [:]
  var bodyLength = 0
  var keepsAlive: Bool

  init?(_ bytes: ArraySlice<UInt8>) {
    // A carriage return and a line feed are one character.
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[2] == "HTTP/1.1" || words[2] == "HTTP/1.0", words[1].hasPrefix("/"),
      lines.count <= 101
    else { return nil }
    (method, target) = (String(words[0]), String(words[1]))
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":"), line.first?.isWhitespace == false,
        !line.contains(where: \.isNewline)
      else { return nil }
      let name = line[..<colon].lowercased()
      let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
      if let known = headers[name] {
        // Two lengths, or two hosts, are how requests are smuggled.
        if name == "content-length" || name == "host" || name == "authorization" { return nil }
        headers[name] = "\(known), \(value)"
      } else {
        headers[name] = value
      }
    }
    if let text = headers["content-length"] {
      guard let length = Int(text), length >= 0, text.utf8.allSatisfy({ (48...57).contains($0) }) else {
        return nil
      }
      bodyLength = length
    }
    let connection = headers["connection"]?.lowercased() ?? ""
    keepsAlive = words[2] == "HTTP/1.1" ? !connection.contains("close") : connection.contains("keep-alive")
  }
}
