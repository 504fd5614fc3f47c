#if SQLite
  import Foundation
  import Synchronization

  /// A running tool.
  ///
  /// Nothing here blocks a thread of Swift's tasks. Separate threads read the tool's output or look
  /// for its files, and wake a waiting task at once, even on a busy machine.
  final class RunningTool: Sendable {
    private let process = Process()
    private let output: HeardStream
    private let errors: HeardStream
    private let ending = Ending()

    init(
      executable: URL, _ arguments: [String], in directory: URL?, environment: [String: String] = [:]
    ) throws {
      output = try HeardStream()
      errors = try HeardStream()
      process.executableURL = executable
      process.arguments = arguments
      process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
      process.currentDirectoryURL = directory
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = output.writing
      process.standardError = errors.writing
      process.terminationHandler = { [ending] in
        ending.give($0.terminationStatus, wasKilled: $0.terminationReason == .uncaughtSignal)
      }
      try process.run()
      output.listen()
      errors.listen()
    }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    var isRunning: Bool { process.isRunning }

    /// The tool's standard output so far.
    var outputSoFar: String { output.text }

    /// The tool's standard error so far.
    var errorsSoFar: String { errors.text }

    /// Waits until standard error satisfies a condition; `false` if the tool ends first.
    ///
    /// - Parameter act: Runs at once on the reading thread, without a delay by other threads.
    @discardableResult
    func waitForErrors(
      where condition: @escaping @Sendable (String) -> Bool, then act: @escaping @Sendable () -> Void = {}
    ) async -> Bool {
      await errors.wait(for: condition, then: act)
    }

    /// Waits until a file exists or the tool has ended.
    ///
    /// - Parameter act: Runs at once on the waiting thread.
    func waitForFile(_ path: String, then act: @escaping @Sendable () -> Void) async {
      await withCheckedContinuation { continuation in
        Thread.detachNewThread {
          while !FileManager.default.fileExists(atPath: path), self.isRunning { usleep(1000) }
          act()
          continuation.resume()
        }
      }
    }

    /// Waits for the end. Cancellation of the waiting task, by a time limit, ends the process.
    func outcome() async -> Tool.Outcome {
      let (status, wasKilled) = await withTaskCancellationHandler {
        await ending.wait()
      } onCancel: {
        send(SIGKILL)
      }
      // The last output may still be in the pipe.
      await output.waitForEnd()
      await errors.waitForEnd()
      return Tool.Outcome(status: status, wasKilled: wasKilled, output: output.text, errors: errors.text)
    }
  }

  /// The exit status of a process, after its end.
  private final class Ending: Sendable {
    private struct State {
      var value: (status: Int32, wasKilled: Bool)?
      var waiters: [CheckedContinuation<(Int32, Bool), Never>] = []
    }
    private let state = Mutex(State())

    func give(_ status: Int32, wasKilled: Bool) {
      let waiters = state.withLock { state in
        state.value = (status, wasKilled)
        defer { state.waiters = [] }
        return state.waiters
      }
      for waiter in waiters { waiter.resume(returning: (status, wasKilled)) }
    }

    func wait() async -> (Int32, Bool) {
      await withCheckedContinuation { waiter in
        let known = state.withLock { state -> (Int32, Bool)? in
          if state.value == nil { state.waiters.append(waiter) }
          return state.value
        }
        if let known { waiter.resume(returning: known) }
      }
    }
  }
#endif
