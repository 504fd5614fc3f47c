#if os(Linux)
  import CanonicalSyncCNetlink

  /// A socket to the kernel: the only code here that uses raw memory.
  struct NetlinkSocket: Sendable {
    let descriptor: Int32

    /// The buffer for one datagram; the kernel fills no more than half of it.
    private static let capacity = 1 << 16

    enum Received {
      case datagram([UInt8])
      /// No datagram is waiting.
      case nothing
      /// The kernel dropped messages for lack of room.
      case overrun
      case failure(Int32)
    }

    /// Opens a socket.
    init() throws(SystemError) {
      let result = cnetlink_open(RouteNumbers.groups)
      guard result >= 0 else { throw SystemError(number: -result) }
      descriptor = result
    }

    func close() { cnetlink_close(descriptor) }

    /// Sends a message; returns the error number, or zero.
    func send(_ message: [UInt8]) -> Int32 {
      message.withUnsafeBytes { cnetlink_send(descriptor, $0.baseAddress, $0.count) }
    }

    /// Takes the next datagram, if there is one.
    func receive() -> Received {
      var error: Int32 = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: Self.capacity) { buffer, count in
        let result = cnetlink_receive(descriptor, buffer.baseAddress, Self.capacity)
        if result < 0 { error = Int32(-result) }
        count = max(0, result)
      }
      switch error {
      case 0: return .datagram(bytes)
      case EAGAIN: return .nothing
      case EINTR: return .datagram([])
      case ENOBUFS, EMSGSIZE: return .overrun
      default: return .failure(error)
      }
    }
  }
#endif
