#if Postgres
  import SyncModels
  import Synchronization

  /// What a transaction needs to know of its store object.
  struct TransactionContext: Sendable {
    var declarations: Declarations
    /// The number of migrations that this version of the library knows.
    var layout: Int
    /// The positions that this store object's commits took.
    var positions: PositionCount
  }

  /// Counts the positions that a store object's own commits took.
  final class PositionCount: Sendable {
    private let count = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }
  }
#endif
