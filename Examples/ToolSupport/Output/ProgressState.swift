import CanonicalSync

/// The progress of a task, and its texts.
package struct ProgressState: Hashable, Sendable {
  /// The task, in a word or two.
  package var label: String
  /// The completed amount.
  package var done: Int
  /// The total amount, if known.
  package var total: Int?
  /// The time so far.
  package var elapsed: Duration

  /// Creates a state.
  package init(_ label: String, done: Int, total: Int?, elapsed: Duration) {
    self.label = label
    self.done = done
    self.total = total
    self.elapsed = elapsed
  }

  /// The completed part, between 0 and 1. A total that was too small counts as reached.
  package var fraction: Double? {
    guard let total else { return nil }
    return total > 0 ? min(1, max(0, Double(done) / Double(total))) : 1
  }

  /// The rate per second; nil before it can be computed.
  package var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && done > 0 ? Double(done) / seconds : nil
  }

  /// The time left at this rate.
  package var remaining: Duration? {
    guard let total, let rate else { return nil }
    // A remote may report any total, and a duration is bounded.
    return .seconds(min(max(0, Double(total) - Double(done)) / rate, 1e9))
  }
}

extension ProgressState {
  /// One line for a log: `games: 2,622 of 5,244 (50 %), 1,311/s, 0:02 left`.
  package var logLine: String {
    var parts = [done.grouped]
    if let total, let percent { parts = ["\(done.grouped) of \(total.grouped) (\(percent) %)"] }
    return "\(label): " + (parts + pace).joined(separator: ", ")
  }

  /// One line for a terminal, with a bar that fills the available width.
  ///
  /// Parts that do not fit are left out: first the bar, then the pace, at last the end of the line.
  package func bar(width: Int) -> String {
    // A terminal wraps the line once its last column is written.
    let room = max(0, width - 1)
    let counted = total.map { "\(done.grouped)/\($0.grouped)" } ?? done.grouped
    let short = [label, percent.map { "\($0)%".paddedBefore(to: 4) }, counted].compactMap { $0 }
      .joined(separator: " ")
    let long = ([short] + pace).joined(separator: "  ")
    guard long.count <= room else { return String(short.prefix(room)) }
    let cells = min(40, room - long.count - 3)
    guard let fraction, cells >= 8 else { return long }
    let full = Int((fraction * Double(cells)).rounded(.down))
    let bar = String(repeating: "#", count: full) + String(repeating: ".", count: cells - full)
    return "\(label) [\(bar)]\(long.dropFirst(label.count))"
  }

  /// The percentage, rounded down: 100 means complete.
  private var percent: Int? { fraction.map { Int($0 * 100) } }

  private var pace: [String] {
    guard let rate else { return [] }
    let perSecond = rate < 10 ? String((rate * 10).rounded() / 10) : Int(min(rate, 1e15)).grouped
    return ["\(perSecond)/s"] + (remaining.map { ["\($0.onAClock) left"] } ?? [])
  }
}

extension Duration {
  /// The duration in its largest unit: `0.4 s`, `5 s`, `3 min`, `2 h`, `4 d`.
  package var roughly: String {
    let seconds = max(0, self / .seconds(1))
    return switch seconds {
    case ..<1: "\((seconds * 10).rounded() / 10) s"
    case ..<60: "\(Int(seconds)) s"
    case ..<3600: "\(Int(seconds / 60)) min"
    case ..<86400: "\(Int(seconds / 3600)) h"
    default: "\(Int(min(seconds / 86400, 1e9))) d"
    }
  }

  /// Hours, minutes and seconds: `0:07`, `12:34`, `1:02:03`.
  package var onAClock: String {
    let seconds = Int(min(max(0, self / .seconds(1)), 3.6e8).rounded())
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let tail = ":" + twoDigits(seconds % 60)
    return hours > 0 ? "\(hours):\(twoDigits(minutes))\(tail)" : "\(minutes)\(tail)"
  }
}
