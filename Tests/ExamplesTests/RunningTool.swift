#if SQLite
  import CanonicalSyncTestProcesses
  import Foundation

  /// A running tool.
  ///
  /// Nothing here blocks a thread of Swift's tasks. Separate threads read the tool's output or look
  /// for its files, and wake a waiting task at once, even on a busy machine.
  final class RunningTool: Sendable {
    private let process: ChildProcess
    private let output: HeardStream
    private let errors: HeardStream

    init(
      executable: URL, _ arguments: [String], in directory: URL?, environment: [String: String] = [:]
    ) throws {
      output = try HeardStream()
      errors = try HeardStream()
      process = try ChildProcess(
        [executable.path] + arguments, in: directory,
        environment: ProcessInfo.processInfo.environment.merging(environment) { $1 },
        output: output.writing, errors: errors.writing)
      output.listen()
      errors.listen()
    }

    func send(_ signal: Int32) { process.send(signal) }

    var isRunning: Bool { process.isRunning }

    /// The tool's standard output so far.
    var outputSoFar: String { output.text }

    /// The tool's standard error so far.
    var errorsSoFar: String { errors.text }

    /// Waits until standard output satisfies a condition; `false` if the tool ends first.
    @discardableResult
    func waitForOutput(where condition: @escaping @Sendable (String) -> Bool) async -> Bool {
      await output.wait(for: condition, then: {})
    }

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
      let ending = await withTaskCancellationHandler {
        await process.ending()
      } onCancel: {
        send(SIGKILL)
      }
      // The last output may still be in the pipe.
      await output.waitForEnd()
      await errors.waitForEnd()
      return Tool.Outcome(
        status: ending.status, wasKilled: ending.wasKilled, output: output.text, errors: errors.text)
    }
  }
#endif
