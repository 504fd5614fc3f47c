public import SyncModels

/// A position in the sequence of writes that changed what readers see.
public struct StorePosition: Hashable, Sendable, Comparable, Codable {
  /// The write's number in its store: greater for a later write.
  public var number: Int64

  /// Creates a position.
  public init(_ number: Int64) {
    self.number = number
  }

  /// Whether one write came before another.
  public static func < (a: StorePosition, b: StorePosition) -> Bool { a.number < b.number }
}

/// The records that writes changed after a position.
public struct CommittedChanges: Hashable, Sendable {
  /// What an observer has to read again.
  public enum Scope: Hashable, Sendable {
    /// These records, each once and by id.
    case records([RecordID])
    /// Everything: the changes are too many, or older than what the store keeps.
    case everything
  }

  /// What to read again.
  public var scope: Scope
  /// The position of the last write, for the next query.
  public var position: StorePosition

  /// Creates a set of changes.
  public init(_ scope: Scope, through position: StorePosition) {
    self.scope = scope
    self.position = position
  }
}
