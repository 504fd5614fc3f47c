import SyncModels

/// An incoming change, with its origin.
struct Incoming {
  var change: RecordChange
  var origin: Origin

  /// The origin of a change.
  enum Origin {
    /// The page that is being committed.
    case page
    /// A withheld change that may no longer have to wait.
    // Indirect, so that the many changes of pages stay small.
    indirect case withheld(WithheldChange)

    /// Whether the change is from the page.
    var isPage: Bool {
      if case .page = self { true } else { false }
    }
  }

  init(_ change: RecordChange) {
    self.change = change
    self.origin = .page
  }

  init(_ entry: WithheldChange) {
    self.change = entry.change
    self.origin = .withheld(entry)
  }
}

/// Changes that are merged together: no record twice.
///
/// Tombstones may be in a round of their own.
struct MergeRound {
  private(set) var copies: [Record] = []
  private(set) var tombstones: [Tombstone] = []
  private(set) var malformed: [MalformedRecord] = []
  /// The tombstones of the next round.
  ///
  /// They apply to this round's copies already: a record that they delete is not shown for a copy.
  private(set) var following: [Tombstone] = []
  /// The origins of the changes, by their index in ``copies``, ``tombstones`` and ``malformed``.
  ///
  /// `copyOrigins` is empty if all copies are from the page.
  private var copyOrigins: [Incoming.Origin] = []
  private var tombstoneOrigins: [Incoming.Origin] = []
  private var malformedOrigins: [Incoming.Origin] = []

  /// Creates a round of copies that are all from the page.
  init(copies: [Record]) {
    self.copies = copies
  }

  init(_ changes: ArraySlice<Incoming>) {
    copies.reserveCapacity(changes.count)
    copyOrigins.reserveCapacity(changes.count)
    for incoming in changes {
      switch incoming.change {
      case .upsert(let record):
        copies.append(record)
        copyOrigins.append(incoming.origin)
      case .tombstone(let tombstone):
        tombstones.append(tombstone)
        tombstoneOrigins.append(incoming.origin)
      case .malformed(let record):
        malformed.append(record)
        malformedOrigins.append(incoming.origin)
      }
    }
  }

  func origin(ofCopy place: Int) -> Incoming.Origin { copyOrigins.isEmpty ? .page : copyOrigins[place] }
  func origin(ofTombstone place: Int) -> Incoming.Origin { tombstoneOrigins[place] }
  func origin(ofMalformed place: Int) -> Incoming.Origin { malformedOrigins[place] }

  /// Whether all copies are from the page.
  var hasPageCopiesOnly: Bool { copyOrigins.isEmpty }

  /// Whether copies or tombstones of the round were withheld before.
  var hasWithheldChanges: Bool {
    copyOrigins.contains { !$0.isPage } || tombstoneOrigins.contains { !$0.isPage }
  }

  /// The records that the changes concern, as far as they are known.
  var ids: [RecordID] {
    copies.map(\.id) + tombstones.map(\.id) + malformed.compactMap(\.id) + following.map(\.id)
  }

  /// Splits changes so that no round holds a record twice.
  ///
  /// If records of the type refer to each other, tombstones form a round of their own, which sees
  /// the references that the copies before it left.
  static func rounds(of changes: [Incoming], selfReferring: Bool) -> [MergeRound] {
    var seen: Set<RecordID> = []
    seen.reserveCapacity(changes.count)
    var rounds: [MergeRound] = []
    var start = changes.startIndex
    for (index, incoming) in changes.enumerated() {
      guard let id = incoming.change.id, !seen.insert(id).inserted else { continue }
      rounds.append(MergeRound(changes[start..<index]))
      start = index
      seen = [id]
    }
    rounds.append(MergeRound(changes[start...]))
    return selfReferring ? rounds.flatMap(\.withTombstonesApart) : rounds
  }

  private var withTombstonesApart: [MergeRound] {
    if copies.isEmpty || tombstones.isEmpty { return [self] }
    var (first, second) = (self, MergeRound(copies: []))
    (second.tombstones, second.tombstoneOrigins) = (tombstones, tombstoneOrigins)
    (first.tombstones, first.tombstoneOrigins) = ([], [])
    first.following = tombstones
    return [first, second]
  }
}
