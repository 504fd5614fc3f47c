import Foundation

/// How a tool's process ends, as its caller's shell sees it.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case failure = 1
  case usage = 2
  case interrupted = 130

  /// Writes out what waits for standard output, and ends the process.
  ///
  /// Results that could not be written (a full disk behind `>`) make a failure of a success.
  package func endProcess() -> Never {
    StandardStream.output.flush()
    guard self == .success, let reason = StandardStream.output.failure else { exit(rawValue) }
    StandardStream.error.line("the results could not be written: \(reason)")
    exit(ExitCode.failure.rawValue)
  }

  /// What the code means, as `--help` says it.
  var meaning: String {
    switch self {
    case .success: "success"
    case .failure: "failure; standard error says what failed"
    case .usage: "the command line was wrong; nothing was done"
    case .interrupted: "interrupted (Ctrl-C); what was done is kept"
    }
  }
}
