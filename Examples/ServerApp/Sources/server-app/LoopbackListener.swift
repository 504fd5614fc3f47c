import Dispatch
import Foundation
import SyncServing
import Synchronization

/// Answers requests on a loopback port, for a trial alone.
///
/// It has no TLS and no keep-alive, and takes no bodies. A service that others reach belongs behind a web
/// framework, as `Examples/ServerApp/README.md` shows.
final class LoopbackListener: Sendable {
  let port: UInt16
  private let listening: Int32
  private let isOpen = Atomic(true)

  typealias Answer = @Sendable (ServiceRequest) async -> ServiceResponse

  /// A failure of the system's sockets.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init(port: UInt16, answer: @escaping Answer) throws {
    #if os(Linux)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 && listen(descriptor, 64) == 0
          && getsockname(descriptor, pointer, &size) == 0
      }
    }
    guard isBound else {
      let reason = String(cString: strerror(errno))
      _ = Foundation.close(descriptor)
      throw Failure(description: "cannot listen on port \(port): \(reason)")
    }
    self.port = UInt16(bigEndian: address.sin_port)
    listening = descriptor
    Thread.detachNewThread { [self] in
      while isOpen.load(ordering: .relaxed) {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else {
          // Without free descriptors, each attempt would fail at once.
          if isOpen.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.1) }
          continue
        }
        Self.serve(connection, answer)
      }
      _ = Foundation.close(descriptor)
    }
  }

  /// Accepts no more requests.
  func close() {
    isOpen.store(false, ordering: .relaxed)
    // Wakes the thread that accepts.
    shutdown(listening, Int32(SHUT_RDWR))
  }

  /// Answers on a thread of the connection's own, which a slow client may hold up.
  private static func serve(_ connection: Int32, _ answer: @escaping Answer) {
    Thread.detachNewThread {
      defer { _ = Foundation.close(connection) }
      var patience = timeval(tv_sec: 5, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(connection, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
      }
      guard let request = request(from: connection) else { return }
      let response = wait { await answer(request) }
      guard send(head(of: response), to: connection) else { return }
      switch response.body {
      case .bytes(let body): send(body, to: connection)
      case .stream(let next):
        while let part = wait({ await next() }), send(part, to: connection) {}
      }
    }
  }

  /// Runs a task, and blocks this thread of the connection until it has a result.
  private static func wait<Value: Sendable>(_ body: @escaping @Sendable () async -> Value) -> Value {
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

  /// Reads a request's head; `nil` for what is no request.
  private static func request(from connection: Int32) -> ServiceRequest? {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while bytes.count < 16_384 {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      bytes += buffer[..<count]
      if String(decoding: bytes, as: UTF8.self).contains("\r\n\r\n") { break }
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3 else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst().prefix(while: { !$0.isEmpty }) {
      guard let colon = line.firstIndex(of: ":") else { return nil }
      headers[String(line[..<colon])] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return ServiceRequest(String(words[0]), String(words[1]), headers: headers)
  }

  private static func head(of response: ServiceResponse) -> [UInt8] {
    var head = "HTTP/1.1 \(response.status) -\r\nConnection: close\r\n"
    if case .bytes(let body) = response.body { head += "Content-Length: \(body.count)\r\n" }
    for (name, value) in response.headers { head += "\(name): \(value.filter { !$0.isNewline })\r\n" }
    return Array((head + "\r\n").utf8)
  }

  /// Sends bytes; `false` once the client is gone.
  @discardableResult
  private static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      #if os(Linux)
        let flags = Int32(MSG_NOSIGNAL)
      #else
        let flags: Int32 = 0
      #endif
      let count = rest.withUnsafeBytes { Foundation.send(connection, $0.baseAddress, $0.count, flags) }
      guard count > 0 else { return false }
      rest = rest.dropFirst(count)
    }
    return true
  }
}

/// Where a task leaves its result for a thread.
private final class ResultBox<Value: Sendable>: Sendable {
  let result = Mutex<Value?>(nil)
  let isThere = DispatchSemaphore(value: 0)
}
