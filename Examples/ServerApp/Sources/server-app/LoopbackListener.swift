import Dispatch
import Foundation
import ScheduleService
import Synchronization

/// Answers GET requests on a loopback port, for a trial alone.
///
/// It has no TLS, no limits and no keep-alive. A service that others reach belongs behind a web
/// framework, as `Examples/ServerApp/README.md` shows.
final class LoopbackListener: Sendable {
  let port: UInt16
  private let listening: Int32
  private let isOpen = Atomic(true)

  /// A failure of the system's sockets.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  init(port: UInt16, answer: @escaping @Sendable (_ path: String) async -> Answer) throws {
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
  private static func serve(_ connection: Int32, _ answer: @escaping @Sendable (String) async -> Answer) {
    Thread.detachNewThread {
      defer { _ = Foundation.close(connection) }
      var patience = timeval(tv_sec: 5, tv_usec: 0)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        setsockopt(connection, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
      }
      guard let path = path(from: connection) else { return }
      let answered = Mutex<Answer?>(nil)
      let isThere = DispatchSemaphore(value: 0)
      Task {
        let answer = await answer(path)
        answered.withLock { $0 = answer }
        isThere.signal()
      }
      isThere.wait()
      if let answer = answered.withLock({ $0 }) { write(answer, to: connection) }
    }
  }

  /// Reads a request's head, and returns its path.
  private static func path(from connection: Int32) -> String? {
    var head: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while head.count < 16_384 {
      let count = recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { return nil }
      head += buffer[..<count]
      if String(decoding: head, as: UTF8.self).contains("\r\n\r\n") { break }
    }
    let words = String(decoding: head, as: UTF8.self).prefix { $0 != "\r\n" }.split(separator: " ")
    return words.count == 3 && words[0] == "GET" ? String(words[1]) : nil
  }

  private static func write(_ answer: Answer, to connection: Int32) {
    let body = Array(answer.body.utf8)
    let head =
      "HTTP/1.1 \(answer.status) -\r\nContent-Type: \(answer.contentType)\r\nContent-Length: \(body.count)\r\n"
      + "Connection: close\r\n\r\n"
    var bytes = Array(head.utf8) + body
    while !bytes.isEmpty {
      #if os(Linux)
        let count = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
      #else
        let count = send(connection, bytes, bytes.count, 0)
      #endif
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }
}
