import SyncPorts

/// The talk with the kernel, decided and not performed: what to ask for, and what to report.
///
/// Links, addresses and routes are listed one after the other at the start, and again whenever what is known may be wrong. In
/// between the kernel tells each change.
struct NetlinkDialogue {
  /// What can be listed.
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
    /// Whether something happened meanwhile that the list may have missed.
    var isStale = false
  }

  private var table: NetworkTable
  private var wanted = Set(Subject.allCases)
  private var complete: Set<Subject> = []
  private var listing: Listing?
  private var sequence: UInt32 = 0
  private var reported: NetworkStatus?
  /// Whether nothing more can be found out.
  private(set) var hasFailed = false

  init(table: NetworkTable) {
    self.table = table
  }

  /// Begins with the first list.
  mutating func begin() -> [Action] { next() }

  /// Hears a datagram.
  mutating func receive(_ datagram: [UInt8]) -> [Action] {
    let batch = NetlinkMessage.read(datagram)
    for message in batch.messages { note(message) }
    return batch.isIntact ? next() : lost()
  }

  /// Messages were lost: what is known counts on until everything is listed anew.
  mutating func lost() -> [Action] {
    wanted = Set(Subject.allCases)
    listing?.isStale = true
    return next()
  }

  /// Nothing more can be found out.
  mutating func fail() -> [Action] {
    hasFailed = true
    return next()
  }

  private mutating func note(_ message: NetlinkMessage) {
    let isReply = message.sequence == listing?.sequence
    switch message.type {
    case RouteNumbers.done, RouteNumbers.error:
      // An error's number is where a list's end has a zero.
      if isReply { endListing(error: message.body.number(at: 0) ?? 0, flags: message.flags) }
    default:
      // Other programs number their own messages, which are passed on; those have never several parts.
      let isListed = isReply && message.flags & RouteNumbers.multipart != 0
      if isListed, message.flags & RouteNumbers.interrupted != 0 { listing?.isStale = true }
      guard table.note(NetworkFact(message), isListed: isListed) else { return }
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
    // Half of the picture says nothing.
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
  /// The message that asks the kernel for the list.
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
    // The sender's number, which the kernel knows, and a header that says: of all families.
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
