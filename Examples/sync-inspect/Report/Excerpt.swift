import CanonicalSync
import CanonicalSyncPages
import SyncAdapters

/// The first elements of a list that may be long.
struct Excerpt<Element: Sendable>: Sendable {
  /// The first elements.
  var shown: [Element]
  /// The length of the list; `nil` if it is longer, and was not counted.
  var total: Int?

  /// Creates an excerpt.
  init(_ shown: [Element], of total: Int?) {
    self.shown = shown
    self.total = total
  }

  /// Creates an excerpt from a read of one element more than is shown.
  init(first limit: Int, ofRead elements: [Element]) {
    shown = Array(elements.prefix(limit))
    total = elements.count > limit ? nil : elements.count
  }

  /// Whether the list has no element.
  var isEmpty: Bool { shown.isEmpty && (total ?? 1) == 0 }
}

extension Excerpt {
  /// Renders the elements, one after the other, within a number of bytes.
  ///
  /// A page with long names and messages stays small, too.
  ///
  /// - Returns: The markup, and the excerpt that it shows.
  func markup(within budget: Int, _ render: (Element) -> HTML) -> (pieces: [HTML], excerpt: Excerpt) {
    var pieces: [HTML] = []
    var left = budget
    for element in shown {
      let piece = render(element)
      left -= piece.size
      if left < 0 { break }
      pieces.append(piece)
    }
    return (pieces, Excerpt(Array(shown.prefix(pieces.count)), of: total))
  }

  /// The number of elements that are left out, in words; empty if there are none.
  ///
  /// - Parameter more: Where to find the others, as in `sync-inspect outbox lists all`.
  func remainder(_ more: HTML) -> HTML {
    guard let total else { return "<p>More are left out: \(more).</p>\n" }
    guard total > shown.count else { return "" }
    return "<p>\(Counted(total - shown.count, "more is", "more are")) left out: \(more).</p>\n"
  }
}
