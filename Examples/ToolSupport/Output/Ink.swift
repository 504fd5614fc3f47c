import CanonicalSync
import Foundation

/// The colour of a text for a person, by its meaning.
package enum Ink: Int, Sendable {
  case good = 32
  case warning = 33
  case bad = 31

  /// The text in this colour.
  func paint(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }

  /// Whether colours are wanted, by the environment.
  ///
  /// `NO_COLOR` with any value but the empty one forbids them (https://no-color.org).
  static func isWanted(in environment: [String: String]) -> Bool {
    (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
  }
}

extension StandardStream {
  /// Writes a line for a person, in colour if the stream shows colours.
  package func line(_ text: String, in ink: Ink) {
    let plain = text.shown(keepingLineBreaks: true)
    write((isColoured ? ink.paint(plain) : plain) + "\n")
  }

  /// Whether texts are coloured.
  var isColoured: Bool { isTerminal && Ink.isWanted(in: ProcessInfo.processInfo.environment) }
}
