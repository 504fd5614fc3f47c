import Foundation
import Synchronization

/// Standard output or standard error.
///
/// What is written to standard error leaves at once; standard output gathers some 64 KiB before it writes, unless a
/// terminal is reading along. ``ExitCode/endProcess()`` writes out the rest.
package final class StandardStream: Sendable {
  /// Where results go.
  package static let output = StandardStream(descriptor: STDOUT_FILENO, gathering: 1 << 16)
  /// Where progress, logs and complaints go.
  package static let error = StandardStream(descriptor: STDERR_FILENO, gathering: 0)

  private struct State {
    var waiting: [UInt8] = []
    var errno: Int32 = 0
  }
  private let descriptor: Int32
  private let limit: Int
  private let state = Mutex(State())

  init(descriptor: Int32, gathering limit: Int) {
    self.descriptor = descriptor
    self.limit = isatty(descriptor) == 1 ? 0 : limit
  }

  /// Tells whether somebody is looking: the stream is a terminal.
  package var isTerminal: Bool { isatty(descriptor) == 1 }

  /// The terminal's width in characters; 80 where that can't be known.
  package var columns: Int {
    var size = winsize()
    guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
    return Int(size.ws_col)
  }

  /// Why something could not be written, if so; nothing is written any more after that.
  package var failure: String? {
    let number = state.withLock { $0.errno }
    return number == 0 ? nil : String(cString: strerror(number))
  }

  /// Writes text as it is.
  package func write(_ text: String) { write(text.utf8) }

  /// Writes text and a line break.
  package func line(_ text: String) { write("\(text)\n") }

  /// Writes bytes as they are.
  package func write(_ bytes: some Sequence<UInt8>) {
    state.withLock { state in
      state.waiting.append(contentsOf: bytes)
      if state.waiting.count > limit { send(&state) }
    }
  }

  /// Writes out what has been gathered.
  package func flush() {
    state.withLock { send(&$0) }
  }

  private func send(_ state: inout State) {
    var rest = state.waiting[...]
    while !rest.isEmpty, state.errno == 0 {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { state.errno = max(errno, 1) }
    }
    state.waiting.removeAll(keepingCapacity: true)
  }
}
