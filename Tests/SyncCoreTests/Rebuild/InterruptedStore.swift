import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization

/// A store that calls a function right before the first write.
final class InterruptedStore: ForwardingStore {
  let base: InMemoryStore
  private let interruption: @Sendable () async throws(SyncError) -> Void
  private let isOver = Mutex(false)

  init(_ store: InMemoryStore, _ interruption: @escaping @Sendable () async throws(SyncError) -> Void) {
    base = store
    self.interruption = interruption
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let isFirst = isOver.withLock { isOver in
      defer { isOver = true }
      return !isOver
    }
    if isFirst { try await interruption() }
    return try await base.write(authority, body)
  }
}
