import SyncCore
package import SyncModels

/// A piece of markup, into which texts come escaped.
///
/// Only literals are markup. Ids, names and messages come from outside, so that a text has to pass
/// through the interpolation, and cannot become markup.
package struct HTML: Hashable, Sendable, ExpressibleByStringInterpolation {
  /// The markup.
  package private(set) var markup: String

  package init(stringLiteral markup: String) { self.markup = markup }

  package init(stringInterpolation: StringInterpolation) { markup = stringInterpolation.markup }

  /// Joins pieces.
  package init(_ pieces: [HTML], separator: HTML = "") {
    markup = pieces.lazy.map(\.markup).joined(separator: separator.markup)
  }

  /// The number of bytes of the markup.
  package var size: Int { markup.utf8.count }

  /// Joins two pieces.
  package static func + (a: HTML, b: HTML) -> HTML { HTML([a, b]) }

  /// A piece that is being put together.
  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      markup.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    package mutating func appendLiteral(_ literal: String) { markup += literal }

    /// Appends a text, escaped for content and for attributes in double quotes.
    package mutating func appendInterpolation(_ text: String) {
      // Control characters are not allowed in HTML, and those of bidirectional text could reorder
      // what a person reads.
      let text = text.shown(keepingLineBreaks: true)
      guard text.utf8.contains(where: Self.isSpecial) else { return markup += text }
      for scalar in text.unicodeScalars {
        switch scalar {
        case "&": markup += "&amp;"
        case "<": markup += "&lt;"
        case ">": markup += "&gt;"
        case "\"": markup += "&quot;"
        case "'": markup += "&#39;"
        default: markup.unicodeScalars.append(scalar)
        }
      }
    }

    private static func isSpecial(_ byte: UInt8) -> Bool {
      switch byte {
      case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"):
        true
      default: false
      }
    }

    /// Appends a number with commas between thousands.
    package mutating func appendInterpolation(_ number: Int) { markup += number.grouped }

    /// Appends a number with commas between thousands, and its noun.
    package mutating func appendInterpolation(_ count: Counted) { appendInterpolation(count.grouped) }

    /// Appends markup.
    package mutating func appendInterpolation(_ piece: HTML) { markup += piece.markup }

    /// Appends pieces of markup.
    package mutating func appendInterpolation(_ pieces: [HTML]) {
      for piece in pieces { markup += piece.markup }
    }
  }
}
