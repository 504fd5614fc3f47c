package import SyncModels
import SyncPorts

/// Lends items, each to one caller at a time, in the order in which callers ask.
package final class Lender<Item: Sendable>: Sendable {
  /// All items, lent or not.
  package let items: [Item]
  private let idle: WaitQueue<[Item], Item>

  package init(_ items: [Item]) {
    self.items = items
    idle = WaitQueue(items.reversed())
  }

  /// Takes the next free item, which is to be given back.
  ///
  /// - Parameter endsWithTask: Whether the task's cancellation ends the wait.
  /// - Throws: `cancelled` if it has.
  package func take(endsWithTask: Bool) async throws(SyncError) -> Item {
    if let item = idle.update({ idle, _ in idle.popLast() }) { return item }
    if let item = await idle.wait(endsWithTask: endsWithTask, take: { $0.popLast() }) { return item }
    throw SyncError(.cancelled, during: "waiting for a connection", "The task was cancelled.")
  }

  package func giveBack(_ item: Item) {
    idle.update { idle, waiters in
      if !waiters.deliverToFirst(item) { idle.append(item) }
    }
  }

  /// The number of items that are not lent.
  package var idleCount: Int { idle.update { idle, _ in idle.count } }
}
