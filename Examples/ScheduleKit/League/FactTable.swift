/// A table in a text, one row a line, with fields between bars.
///
/// A row looks like `BOS | Boston | Red Sox | fenway-park |`.
enum FactTable {
  /// The fields of each line. A line that starts with `#` is a heading, of one field.
  static func rows(of text: String) -> [[String]] {
    text.split(separator: "\n").map { line in
      line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
    }
  }

  /// The parts of a field with several values.
  static func list(_ field: String) -> [String] {
    field.split(separator: ";").map(trimmed)
  }

  private static func trimmed(_ text: Substring) -> String {
    let tail = text.drop { $0 == " " }
    return String(tail.prefix(upTo: tail.lastIndex { $0 != " " }.map(tail.index(after:)) ?? tail.startIndex))
  }
}
