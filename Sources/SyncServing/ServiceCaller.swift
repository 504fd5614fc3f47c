public import SyncModels

/// Who makes a request, and which records are theirs.
///
/// A record outside of a caller's scopes does not exist for it: not in lists, deltas and totals, and
/// not in the answers to conditions, batches and errors.
public struct ServiceCaller: Sendable {
  /// The name under which the service remembers what the caller might see.
  ///
  /// If a caller's scope of a type changes, its next delta of that type is refused, so that it lists
  /// everything again.
  public var id: String
  /// The records of each type that the caller may read.
  public var reads: @Sendable (RecordType) -> Scope
  /// The records of each type that the caller may write: as they are, and as they become.
  public var writes: @Sendable (RecordType) -> Scope

  /// Creates a caller.
  public init(
    _ id: String, reads: @escaping @Sendable (RecordType) -> Scope,
    writes: @escaping @Sendable (RecordType) -> Scope
  ) {
    (self.id, self.reads, self.writes) = (id, reads, writes)
  }

  /// Whether the collection exists for the caller.
  func knows(_ type: RecordType) -> Bool { reads(type) != .nothing || writes(type) != .nothing }

  /// A part of a type's records.
  public enum Scope: Hashable, Sendable {
    /// No record. Without a right to read or write, the collection does not exist either.
    case nothing
    /// All records.
    case everything
    /// The records that satisfy a condition on declared fields.
    case matching(Condition)

    var condition: Condition? { if case .matching(let condition) = self { condition } else { nil } }

    func contains(_ record: Record, _ entity: Entity) -> Bool {
      condition?.isSatisfied(by: record, of: entity) ?? (self == .everything)
    }
  }

  /// A caller that may read and write everything.
  public static func owner(_ id: String = "owner") -> ServiceCaller {
    ServiceCaller(id, reads: { _ in .everything }, writes: { _ in .everything })
  }
}
