public import SyncModels

/// A position in the sequence of writes that changed what readers see.
public struct StorePosition: Hashable, Sendable, Comparable, Codable {
  /// The write's number in its store: greater for a later write.
  public var number: Int64
  /// The history that numbers the writes, of a store that knows it.
  ///
  /// A standby that takes over may lack the last writes, and number others as those.
  package var history: Int64?

  /// Creates a position.
  public init(_ number: Int64) {
    self.number = number
  }

  /// Whether one write came before another.
  public static func < (a: StorePosition, b: StorePosition) -> Bool {
    (a.number, a.history ?? 0) < (b.number, b.history ?? 0)
  }
}

/// The records that writes changed after a position.
public struct CommittedChanges: Hashable, Sendable {
  /// What an observer has to read again, by id; everything if the changes are older than what the
  /// store keeps.
  public var scope: ChangedRecords
  /// The position of the last write, for the next query.
  public var position: StorePosition

  /// Creates a set of changes.
  public init(_ scope: ChangedRecords, through position: StorePosition) {
    self.scope = scope
    self.position = position
  }

  /// The most records that one position lists.
  package static let maximumRecords = 256
  /// The number of positions that are kept, at least.
  package static let maximumWrites: Int64 = 1000
}

extension ChangedRecords {
  /// Adds the records that a round puts, deletes or annotates, up to what one position lists.
  package mutating func insert(_ changes: StoreChanges) {
    let count = changes.put.count + changes.deleted.count + changes.annotated.count
    guard count > 0, case .records(var ids) = self else { return }
    self = .everything
    guard ids.count + count <= CommittedChanges.maximumRecords else { return }
    ids += changes.put.lazy.map(\.id)
    ids += changes.deleted.lazy.map(\.id)
    ids += changes.annotated
    self = .records(ids)
  }
}
