import Foundation

/// The exit status of a tool's process.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case success = 0
  case failure = 1
  case usage = 2
  case interrupted = 130

  /// Writes out the rest of standard output, and ends the process.
  ///
  /// If results could not be written (a full disk behind `>`), a success becomes a failure.
  package func endProcess() -> Never {
    StandardStream.output.flush()
    guard self == .success, let reason = StandardStream.output.failure else { exit(rawValue) }
    StandardStream.error.line("the results could not be written: \(reason)")
    exit(ExitCode.failure.rawValue)
  }

  /// The code's meaning in `--help`.
  var meaning: String {
    switch self {
    case .success: "success"
    case .failure: "failure; standard error says what failed"
    case .usage: "the command line was wrong; nothing was done"
    case .interrupted: "interrupted (Ctrl-C); what was done is kept"
    }
  }
}
