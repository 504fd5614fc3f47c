import SyncPorts

/// Decides what to request from the kernel and what to report; it performs nothing.
///
/// Links, addresses and routes are listed one after the other at the start, and again whenever the
/// table may be wrong. In between the kernel reports each change.
struct NetlinkDialogue {
  /// The subjects of a list.
  enum Subject: CaseIterable {
    case links, addresses, routes
  }

  enum Action: Equatable {
    case ask(Subject, sequence: UInt32)
    case report(NetworkStatus)
  }

  private struct Listing {
    var subject: Subject
    var sequence: UInt32
    /// Whether a change meanwhile may be missing from the list.
    var isStale = false
  }

  private var table: NetworkTable
  private var wanted = Set(Subject.allCases)
  private var complete: Set<Subject> = []
  private var listing: Listing?
  private var sequence: UInt32 = 0
  private var reported: NetworkStatus?
  /// Whether the dialogue has failed for good.
  private(set) var hasFailed = false

  init(table: NetworkTable) {
    self.table = table
  }

  /// Requests the first list.
  mutating func begin() -> [Action] { next() }

  /// Takes a datagram.
  mutating func receive(_ datagram: [UInt8]) -> [Action] {
    let batch = NetlinkMessage.read(datagram)
    for message in batch.messages { take(message) }
    return batch.isIntact ? next() : lost()
  }

  /// Handles lost messages. The table stays valid until everything is listed again.
  mutating func lost() -> [Action] {
    wanted = Set(Subject.allCases)
    listing?.isStale = true
    return next()
  }

  /// Ends the dialogue for good.
  mutating func fail() -> [Action] {
    hasFailed = true
    return next()
  }

  private mutating func take(_ message: NetlinkMessage) {
    let isReply = message.sequence == listing?.sequence
    switch message.type {
    case RouteNumbers.done, RouteNumbers.error:
      // An error's number is in the place of a list end's zero.
      if isReply { endListing(error: message.body.number(at: 0) ?? 0, flags: message.flags) }
    default:
      // Other programs' requests have numbers of their own, and their messages arrive too. Those
      // never have several parts.
      let isListed = isReply && message.flags & RouteNumbers.multipart != 0
      if isListed, message.flags & RouteNumbers.interrupted != 0 { listing?.isStale = true }
      guard table.take(NetworkFact(message), isListed: isListed) else { return }
      wanted.insert(.routes)
      if listing?.subject == .routes { listing?.isStale = true }
    }
  }

  private mutating func endListing(error: Int32, flags: UInt16) {
    guard let ended = listing else { return }
    listing = nil
    if error != 0 {
      hasFailed = true
    } else if ended.isStale || flags & RouteNumbers.interrupted != 0 {
      wanted.insert(ended.subject)
    } else {
      table.endListing(ended.subject)
      complete.insert(ended.subject)
    }
  }

  private mutating func next() -> [Action] {
    if hasFailed { return report(NetworkStatus(.unknown)) }
    var actions: [Action] = []
    if listing == nil, let subject = Subject.allCases.first(where: wanted.contains) {
      wanted.remove(subject)
      sequence &+= 1
      listing = Listing(subject: subject, sequence: sequence)
      table.beginListing(subject)
      actions.append(.ask(subject, sequence: sequence))
    }
    // An incomplete table has no status.
    if complete.count == Subject.allCases.count { actions += report(table.status) }
    return actions
  }

  private mutating func report(_ status: NetworkStatus) -> [Action] {
    guard status != reported else { return [] }
    reported = status
    return [.report(status)]
  }
}

extension NetlinkDialogue.Subject {
  /// The request for the list.
  func request(sequence: UInt32) -> [UInt8] {
    let (type, headerLength) =
      switch self {
      case .links: (RouteNumbers.getLink, 16)
      case .addresses: (RouteNumbers.getAddress, 8)
      case .routes: (RouteNumbers.getRoute, 12)
      }
    let length = NetlinkMessage.headerLength + headerLength
    var bytes = Self.bytes(UInt32(length)) + Self.bytes(type)
    bytes += Self.bytes(RouteNumbers.request | RouteNumbers.dump) + Self.bytes(sequence)
    // The sender's number, which the kernel fills in, and a header for all families.
    bytes += Array(repeating: 0, count: length - bytes.count)
    return bytes
  }

  private static func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    let bytes = (0..<Number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    #if _endian(little)
      return bytes
    #else
      return bytes.reversed()
    #endif
  }
}
