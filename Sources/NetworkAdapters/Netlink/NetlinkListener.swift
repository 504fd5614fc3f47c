#if os(Linux)
  import Foundation
  import SyncPorts
  import Synchronization

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
