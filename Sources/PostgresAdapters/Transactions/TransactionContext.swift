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

  /// Counts the positions that a store object's own commits took, and its lost connections.
  final class PositionCount: Sendable {
    private let count = Atomic<Int64>(0)
    private let lost = Atomic<Int64>(0)

    var value: Int64 { count.load(ordering: .relaxed) }

    func add() { count.add(1, ordering: .relaxed) }

    /// The number of lost connections.
    ///
    /// A server that ended may have lost commits that others had read already, and gives their
    /// positions to others.
    var losses: Int64 { lost.load(ordering: .relaxed) }

    func addLoss() { lost.add(1, ordering: .relaxed) }
  }
#endif
