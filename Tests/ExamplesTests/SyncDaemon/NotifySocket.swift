#if SQLite
  import Foundation

  /// The socket of a service manager, which keeps the messages that a daemon sends.
  ///
  /// A thread of its own waits for them, so that no thread of Swift's tasks is blocked.
  final class NotifySocket: Sendable {
    let path: String
    private let descriptor: Int32

    /// Binds a socket to a path.
    init(path: String) throws {
      self.path = path
      #if os(Linux)
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      #else
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
      #endif
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
      let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      if bound != 0 { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    /// Returns the next message; `nil` once ``end()`` was called.
    func next() async -> String? {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async { [self] in
          var bytes = [UInt8](repeating: 0, count: 4096)
          let count = recv(descriptor, &bytes, bytes.count, 0)
          continuation.resume(returning: count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil)
        }
      }
    }

    /// Returns the messages up to one that begins with a text, including it.
    func messages(through prefix: String) async -> [String] {
      var messages: [String] = []
      while let message = await next() {
        messages.append(message)
        if message.hasPrefix(prefix) { break }
      }
      return messages
    }

    /// Ends a wait for messages.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
  }
#endif
