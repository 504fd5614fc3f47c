#if os(Linux)
  import Foundation
  import SyncPorts
  import Synchronization

  /// Carries the talk with the kernel out, and passes on what it amounts to.
  final class NetlinkListener: Sendable {
    private let socket: NetlinkSocket
    private let feed: NetworkStatusFeed
    private let dialogue: Mutex<NetlinkDialogue>

    /// How many datagrams are heard in one go, so that a storm of them leaves room for a stop.
    private static let patience = 64

    init(socket: NetlinkSocket, feed: NetworkStatusFeed, needsDefaultRoute: Bool) {
      self.socket = socket
      self.feed = feed
      dialogue = Mutex(
        NetlinkDialogue(table: NetworkTable(needsDefaultRoute: needsDefaultRoute, classify: Self.kind)))
    }

    /// Asks for the first list; tells whether there is a point in listening.
    func begin() -> Bool { perform { $0.begin() } }

    /// Hears what there is; tells whether there is a point in listening on.
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
        // A link may have gone meanwhile; then its name has to do.
        text = try? String(contentsOfFile: "/sys/class/net/\(link.name)/uevent", encoding: .utf8)
      }
      return InterfaceKind.kind(of: link, deviceType: text.flatMap(InterfaceKind.deviceType))
    }
  }
#endif
