package import SyncModels

/// A store with threads of its own, which can run reads one after the other without another one's.
///
/// A read that waits when another one ends begins at once, instead of after two threads have woken.
package protocol ReadingInTurn: LocalStore {
  /// Whether it has such threads.
  var readsInTurn: Bool { get }

  /// Begins to run reads, each over a state of its own.
  ///
  /// - Parameter next: Takes the next read. It is not called before this returns, nor after `nil`.
  func readInTurn<R: Sendable>(_ next: @escaping @Sendable () -> ReadTurn<R>?)
}

/// A read, and what takes its result.
package struct ReadTurn<R: Sendable>: Sendable {
  package let read: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  package let end: @Sendable (Result<R, SyncError>) -> Void

  package init(
    read: @escaping @Sendable (any StoreSnapshot) throws(SyncError) -> R,
    end: @escaping @Sendable (Result<R, SyncError>) -> Void
  ) {
    (self.read, self.end) = (read, end)
  }
}
