extension HTML {
  /// A sentence in which words between backticks are code.
  package static func prose(_ text: String) -> HTML {
    let spans = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
    // A backtick without its partner is one in a message of the remote.
    guard spans.count % 2 == 1 else { return "\(text)" }
    return HTML(
      spans.enumerated().map { index, span in index % 2 == 1 ? "<code>\(span)</code>" : "\(span)" })
  }

  /// A part of a page that is shown on demand.
  package static func details(_ summary: HTML, isOpen: Bool = false, _ content: HTML) -> HTML {
    """
    <details\(isOpen ? " open" : "" as HTML)><summary>\(summary)</summary>
    \(content)</details>

    """
  }
}

extension String {
  /// The beginning of a text from outside.
  ///
  /// Scalars are counted, because a character may have any number of them.
  package func shortened(to limit: Int) -> String {
    guard let end = unicodeScalars.index(startIndex, offsetBy: limit, limitedBy: unicodeScalars.endIndex),
      end < unicodeScalars.endIndex
    else { return self }
    return String(unicodeScalars[..<end]) + "…"
  }
}
