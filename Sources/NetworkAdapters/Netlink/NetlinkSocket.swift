#if os(Linux)
  import CanonicalSyncCNetlink
  import Foundation
  import SyncPorts
  import Synchronization

  /// The error of a system call.
  struct SystemError: Error, CustomStringConvertible {
    var number: Int32

    var description: String { String(cString: strerror(number)) }
  }

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

  /// Performs the dialogue with the kernel, and reports its status.
  final class NetlinkListener: Sendable {
    private let socket: NetlinkSocket
    private let feed: NetworkStatusFeed
    private let dialogue: Mutex<NetlinkDialogue>

    /// The number of datagrams read at a time.
    ///
    /// It is limited, so that a storm of datagrams leaves room for a stop.
    private static let patience = 64

    init(socket: NetlinkSocket, feed: NetworkStatusFeed, needsDefaultRoute: Bool) {
      self.socket = socket
      self.feed = feed
      dialogue = Mutex(
        NetlinkDialogue(table: NetworkTable(needsDefaultRoute: needsDefaultRoute, classify: Self.kind)))
    }

    /// Requests the first list; returns whether to go on listening.
    func begin() -> Bool { perform { $0.begin() } }

    /// Reads the available datagrams; returns whether to go on listening.
    func hear() -> Bool {
      for _ in 0..<Self.patience {
        switch socket.receive() {
        case .nothing: return true
        case .datagram(let bytes): if !perform({ $0.receive(bytes) }) { return false }
        case .overrun: if !perform({ $0.lost() }) { return false }
        case .failure: return perform { $0.fail() } && false
        }
      }
      return true
    }

    private func perform(_ step: (inout NetlinkDialogue) -> [NetlinkDialogue.Action]) -> Bool {
      dialogue.withLock { dialogue in
        var actions = step(&dialogue)[...]
        while let action = actions.popFirst() {
          switch action {
          case .report(let status): feed.report(status)
          case .ask(let subject, let sequence):
            if socket.send(subject.request(sequence: sequence)) != 0 { actions += dialogue.fail() }
          }
        }
        return !dialogue.hasFailed
      }
    }

    private static func kind(of link: NetworkLink) -> NetworkStatus.Interface {
      var text: String?
      if InterfaceKind.isPlain(link.name) {
        // The link may be gone by now. Its name decides then.
        text = try? String(contentsOfFile: "/sys/class/net/\(link.name)/uevent", encoding: .utf8)
      }
      return InterfaceKind.kind(of: link, deviceType: text.flatMap(InterfaceKind.deviceType))
    }
  }
#endif
