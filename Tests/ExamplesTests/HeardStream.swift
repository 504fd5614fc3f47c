#if SQLite
  import Foundation
  import Synchronization

  /// Reads a process's output on its own thread, so that the pipe never fills.
  final class HeardStream: Sendable {
    private struct Waiter {
      let condition: @Sendable (String) -> Bool
      let act: @Sendable () -> Void
      let continuation: CheckedContinuation<Bool, Never>
    }
    private struct State {
      var bytes: [UInt8] = []
      var hasEnded = false
      var nextID = 0
      var waiters: [Int: Waiter] = [:]
    }
    private let state = Mutex(State())
    private let reading: Int32
    /// The end for the process.
    let writing: FileHandle

    init() throws {
      var ends: [Int32] = [-1, -1]
      // Closed in every other process that starts meanwhile. An inherited descriptor would hide the
      // end of the stream.
      #if os(Linux)
        let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
      #else
        let result = pipe(&ends)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
      #endif
      guard result == 0 else { throw CocoaError(.fileReadUnknown) }
      reading = ends[0]
      writing = FileHandle(fileDescriptor: ends[1], closeOnDealloc: false)
    }

    var text: String { state.withLock { String(decoding: $0.bytes, as: UTF8.self) } }

    /// Starts reading, after the process has its end.
    func listen() {
      try? writing.close()
      Thread.detachNewThread { [self] in
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
          let count = read(reading, &buffer, buffer.count)
          if count > 0 {
            state.withLock { $0.bytes += buffer[..<count] }
            wake()
          } else if count == 0 || errno != EINTR {
            break
          }
        }
        close(reading)
        state.withLock { $0.hasEnded = true }
        wake()
      }
    }

    /// Waits until the output satisfies a condition, and acts at once.
    ///
    /// Returns `false` at the end of the output, or when the waiting task is cancelled.
    func wait(
      for condition: @escaping @Sendable (String) -> Bool, then act: @escaping @Sendable () -> Void = {}
    ) async -> Bool {
      let id = state.withLock { state in
        state.nextID += 1
        return state.nextID
      }
      return await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let waiter = Waiter(condition: condition, act: act, continuation: continuation)
          state.withLock { $0.waiters[id] = waiter }
          // The output or the cancellation may have come already.
          wake()
          if Task.isCancelled { give(up: id) }
        }
      } onCancel: {
        give(up: id)
      }
    }

    /// Waits for the end of the output.
    func waitForEnd() async { _ = await wait { _ in false } }

    private func give(up id: Int) {
      state.withLock { $0.waiters.removeValue(forKey: id) }?.continuation.resume(returning: false)
    }

    /// Checks the conditions of all waiting tasks.
    private func wake() {
      let (bytes, hasEnded, waiters) = state.withLock { ($0.bytes, $0.hasEnded, $0.waiters) }
      if waiters.isEmpty { return }
      let text = String(decoding: bytes, as: UTF8.self)
      for (id, waiter) in waiters {
        let isSatisfied = waiter.condition(text)
        guard isSatisfied || hasEnded, state.withLock({ $0.waiters.removeValue(forKey: id) }) != nil
        else { continue }
        if isSatisfied { waiter.act() }
        waiter.continuation.resume(returning: isSatisfied)
      }
    }
  }
#endif
