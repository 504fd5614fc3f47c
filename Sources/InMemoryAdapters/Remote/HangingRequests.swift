import SyncPorts

/// Requests that get no answer until they are released.
final class HangingRequests: Sendable {
  private let requests = WaitQueue<Int, Void>(0)
  /// Whether a request hangs, as the count says that is changed with it.
  private let isOccupied = WaitQueue<Bool, Void>(false)

  var count: Int { requests.update { count, _ in count } }

  /// Waits, and returns false if the task was cancelled instead of released.
  func hang() async -> Bool {
    let answer: Void? = await requests.wait { count in
      set(&count, to: count + 1)
      return nil
    } leave: { [self] count in
      set(&count, to: count - 1)
    }
    return answer != nil
  }

  func release() {
    requests.update { count, waiters in
      set(&count, to: 0)
      waiters.deliverToAll(())
    }
  }

  func waitUntilOccupied() async {
    _ = await isOccupied.wait { isOccupied in isOccupied ? () : nil }
  }

  private func set(_ count: inout Int, to number: Int) {
    count = number
    isOccupied.update { isOccupied, waiters in
      isOccupied = number > 0
      if isOccupied { waiters.deliverToAll(()) }
    }
  }
}
