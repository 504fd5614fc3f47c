import Synchronization

/// A state under a lock, and the tasks that wait for a value of it.
///
/// Each wait ends with a value, or with `nil` once its task is cancelled. No delivered value is
/// lost. Tasks are resumed after the lock is released.
package final class WaitQueue<State: Sendable, Value: Sendable>: Sendable {
  private typealias Continuation = CheckedContinuation<Value?, Never>

  /// The waiting tasks, under the lock.
  package struct Waiters {
    fileprivate var waiting: [Int: CheckedContinuation<Value?, Never>] = [:]
    fileprivate var deliveries: [(CheckedContinuation<Value?, Never>, Value)] = []
    fileprivate var nextID = 0

    /// Whether no task waits.
    package var isEmpty: Bool { waiting.isEmpty }

    /// Delivers a value to the task that has waited longest.
    ///
    /// - Returns: Whether a task waited.
    package mutating func deliverToFirst(_ value: Value) -> Bool {
      waiting.keys.min().map { deliver(value, to: $0) } ?? false
    }

    /// Delivers a value to one task.
    ///
    /// - Returns: Whether the task waited.
    package mutating func deliver(_ value: Value, to id: Int) -> Bool {
      guard let waiter = waiting.removeValue(forKey: id) else { return false }
      deliveries.append((waiter, value))
      return true
    }

    /// Delivers a value to all tasks, in the order of their arrival.
    package mutating func deliverToAll(_ value: Value) {
      deliveries += waiting.inOrderOfArrival.map { ($0, value) }
      waiting = [:]
    }
  }

  private struct Guarded {
    var state: State
    var waiters = Waiters()
  }
  private let guarded: Mutex<Guarded>

  /// Creates a queue without a waiting task.
  package init(_ state: State) {
    guarded = Mutex(Guarded(state: state))
  }

  /// Changes the state, and delivers values to waiting tasks.
  package func update<R>(_ body: (inout State, inout Waiters) -> sending R) -> sending R {
    let (result, deliveries) = guarded.withLock { guarded in
      let result = body(&guarded.state, &guarded.waiters)
      defer { guarded.waiters.deliveries = [] }
      return (result, guarded.waiters.deliveries)
    }
    for (waiter, value) in deliveries { waiter.resume(returning: value) }
    return result
  }

  /// Waits for a value.
  ///
  /// - Parameters:
  ///   - id: The task's number, if values are delivered to single tasks. It is in use once.
  ///   - endsWithTask: Whether the task's cancellation ends the wait.
  ///   - take: Takes a value that is there already.
  ///   - leave: Notes that the task no longer waits, as it was cancelled.
  /// - Returns: The value; `nil` if the task was cancelled before there was one.
  package func wait(
    as id: Int? = nil, endsWithTask: Bool = true, take: (inout State) -> Value?,
    leave: @escaping @Sendable (inout State) -> Void = { _ in }
  ) async -> Value? {
    let id = id ?? newID()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = guarded.withLock { guarded -> Value?? in
          if let value = take(&guarded.state) { return .some(value) }
          // The handler below may have run already; then no later call would resume this
          // continuation.
          if endsWithTask, Task.isCancelled {
            leave(&guarded.state)
            return .some(nil)
          }
          guarded.waiters.waiting[id] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      guard endsWithTask else { return }
      let waiter = guarded.withLock { guarded -> Continuation? in
        let waiter = guarded.waiters.waiting.removeValue(forKey: id)
        if waiter != nil { leave(&guarded.state) }
        return waiter
      }
      waiter?.resume(returning: nil)
    }
  }

  private func newID() -> Int {
    guarded.withLock { guarded in
      guarded.waiters.nextID += 1
      return guarded.waiters.nextID
    }
  }
}
