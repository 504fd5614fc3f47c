import SyncModels
import SyncPorts

/// What a complete listing of a type did not get to tell, because of pending edits.
///
/// While an edit is pending, its record is taken for listed: what it is at the remote is for the push to find out. An edit that is given up,
/// or that meets a copy from before the listing, is never pushed, and one that the remote took before the listing, with the answer lost, is
/// told of as it was then: nobody would find out until the next complete listing. That one has to come at once.
enum ListingGap: UInt8 {
  /// Records were taken for listed.
  case open
  /// One of them has lost its edit since, and shows what may be long gone.
  case exposed
  /// Records were taken for listed, and an edit of one of them had been sent before the listing, with no answer.
  case unanswered

  /// Notes that records are taken for listed, unless worse is known.
  static func open(
    for type: RecordType, isUnanswered: Bool = false, in transaction: any StoreTransaction
  ) throws(SyncError) {
    let known = try of(type, in: transaction)
    if isUnanswered, known != .exposed {
      try unanswered.save(for: type, in: transaction)
    } else if known == nil {
      try open.save(for: type, in: transaction)
    }
  }

  /// Notes that an edit is gone whose record shows an old copy of the remote's now.
  static func expose(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if let known = try of(type, in: transaction), known != .exposed {
      try exposed.save(for: type, in: transaction)
    }
  }

  /// Notes that the remote took an edit that had been sent before: it may tell of long ago, if nobody knew before the listing.
  static func answered(_ type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try of(type, in: transaction) == .unanswered { try exposed.save(for: type, in: transaction) }
  }

  /// Forgets what earlier listings did not tell, as the next one begins.
  static func close(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    if try of(type, in: transaction) != nil { try transaction.setValue(nil, forKey: key(type)) }
  }

  /// What a type's last complete listing did not tell; `nil` for nothing.
  static func of(_ type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> ListingGap? {
    try snapshot.value(forKey: key(type))?.first.flatMap(ListingGap.init)
  }

  private func save(for type: RecordType, in transaction: any StoreTransaction) throws(SyncError) {
    try transaction.setValue([rawValue], forKey: Self.key(type))
  }

  private static func key(_ type: RecordType) -> String { "listing-gap/\(type)" }
}

extension StoreTransaction {
  /// Takes edits out of the outbox that will not be pushed.
  func giveUp(_ entries: [OutboxEntry]) throws(SyncError) {
    guard !entries.isEmpty else { return }
    try dequeue(entries.map(\.id))
    var types = Set(entries.filter { $0.base.record != nil }.map(\.id.type))
    // A copy that waits for something else is shown as soon as that comes.
    for case .record(let id) in try withheld(for: entries.map { .record($0.id) }).map(\.key) {
      types.insert(id.type)
    }
    for type in types.sorted() { try ListingGap.expose(type, in: self) }
  }
}
