import CanonicalSync
import Foundation
import Synchronization

/// Standard output or standard error.
///
/// Standard error is unbuffered. Standard output buffers some 64 KiB, unless it is a terminal.
/// ``ExitCode/endProcess()`` writes out the rest. A write waits for a reader that is not ready.
package final class StandardStream: Sendable {
  /// The stream for results. Its first failure is final: output must not lack a part in the middle.
  package static let output = StandardStream(descriptor: STDOUT_FILENO, gathering: 1 << 16, ifLost: .fails)
  /// The stream for progress, logs and errors.
  ///
  /// A line that cannot be written is counted, and later ones are tried again.
  package static let error = StandardStream(descriptor: STDERR_FILENO, gathering: 0, ifLost: .goesOn)

  /// The behaviour of a stream after a failed write.
  enum Loss: Sendable {
    /// The stream writes nothing more, and ``failure`` tells why.
    case fails
    /// The stream continues with the next text, after the number of missing lines.
    case goesOn
  }

  private struct State {
    var waiting: [UInt8] = []
    var errno: Int32 = 0
    /// The number of missing lines since the last written one.
    var lost = 0
    var isQuiet = false
  }
  private let descriptor: Int32
  private let limit: Int
  private let loss: Loss
  private let state = Mutex(State())

  init(descriptor: Int32, gathering limit: Int, ifLost loss: Loss = .fails) {
    self.descriptor = descriptor
    self.limit = isatty(descriptor) == 1 ? 0 : limit
    self.loss = loss
  }

  /// Whether progress and notices are left out, as `--quiet` demands.
  ///
  /// Results, warnings and errors are written in any case.
  package var isQuiet: Bool {
    get { state.withLock { $0.isQuiet } }
    set { state.withLock { $0.isQuiet = newValue } }
  }

  /// The width that a table has to fit; `nil` for no limit, away from a terminal.
  package var width: Int? { isTerminal ? columns : nil }

  /// Whether the stream is a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The terminal's width in characters; 80 if unknown.
  package var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// The reason for a failed write, on a stream whose first failure is final.
  package var failure: String? {
    let number = state.withLock { $0.errno }
    return number == 0 ? nil : String(cString: strerror(number))
  }

  /// Writes text unchanged.
  package func write(_ text: String) { write(text.utf8) }

  /// Writes a line for a person, with control characters spelled out.
  package func line(_ text: String) { write(text.shown(keepingLineBreaks: true) + "\n") }

  /// Writes a sentence, wrapped between words on a terminal.
  package func prose(_ text: String, indent: Int = 0) {
    guard let width else { return line(text) }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    line(lines.map { Command.wrapped(String($0), indent: indent, width: width) }.joined(separator: "\n"))
  }

  /// Writes a line, unless only warnings are written.
  package func notice(_ text: String) {
    if !isQuiet { line(text) }
  }

  /// Writes a value for a program, unchanged on one line.
  package func line(_ json: JSON) { write(json.compact + "\n") }

  /// Writes bytes unchanged.
  package func write(_ bytes: some Sequence<UInt8>) {
    state.withLock { state in
      state.waiting.append(contentsOf: bytes)
      if state.waiting.count > limit { send(&state) }
    }
  }

  /// Writes out the buffer.
  package func flush() {
    state.withLock { send(&$0) }
  }

  private func send(_ state: inout State) {
    defer { state.waiting.removeAll(keepingCapacity: true) }
    guard state.errno == 0, !state.waiting.isEmpty else { return }
    let lines = state.waiting.count { $0 == UInt8(ascii: "\n") }
    if state.lost > 0 {
      let words = state.lost == 1 ? "1 line" : "\(state.lost) lines"
      state.waiting.insert(contentsOf: "\n(\(words) could not be written here.)\n".utf8, at: 0)
    }
    if put(state.waiting[...], &state).isEmpty {
      state.lost = 0
    } else if loss == .goesOn {
      state.errno = 0
      state.lost += max(1, lines)
    }
  }

  /// Writes bytes, and returns the unwritten ones, with the reason in the state.
  private func put(_ bytes: ArraySlice<UInt8>, _ state: inout State) -> ArraySlice<UInt8> {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN || errno == EWOULDBLOCK {
        // Another process may have made the shared pipe or terminal non-blocking.
        guard waitUntilWritable() else {
          state.errno = EAGAIN
          return rest
        }
      } else if errno != EINTR {
        state.errno = max(errno, 1)
        return rest
      }
    }
    return rest
  }

  /// Waits for the reader: without limit for results, for a moment for a log.
  private func waitUntilWritable() -> Bool {
    var place = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    let timeout: Int32 = loss == .fails ? -1 : 1000
    while true {
      let count = poll(&place, 1, timeout)
      if count != 0 { return count > 0 || errno == EINTR }
      return false
    }
  }
}
