/// Rows under headings, in aligned columns.
///
/// Numbers are aligned right, with commas between thousands; text is aligned left.
package struct TextTable: Sendable, CustomStringConvertible {
  /// The content of one row in one column.
  package enum Cell: Sendable, Hashable {
    case text(String)
    case number(Int)
    case empty
  }

  /// The headings of the columns.
  package let headings: [String]
  /// The rows, each with a cell for each heading. Missing cells are empty.
  package var rows: [[Cell]]
  /// A last row under a rule, for totals.
  package var footer: [Cell]?

  /// Creates a table.
  package init(_ headings: [String], rows: [[Cell]] = [], footer: [Cell]? = nil) {
    self.headings = headings
    self.rows = rows
    self.footer = footer
  }

  /// The table without the columns, except for the first, that have only empty cells.
  package var withoutEmptyColumns: TextTable {
    let body = rows + (footer.map { [$0] } ?? [])
    let kept = headings.indices.filter { index in
      index == 0 || body.contains { index < $0.count && $0[index] != .empty }
    }
    func cells(_ row: [Cell]) -> [Cell] { kept.map { $0 < row.count ? row[$0] : .empty } }
    return TextTable(kept.map { headings[$0] }, rows: rows.map(cells), footer: footer.map(cells))
  }

  /// The table within a width.
  ///
  /// A table that is wider becomes a block of lines for each row.
  ///
  /// - Parameter width: The width of a terminal; `nil` for no limit.
  package func text(fitting width: Int?) -> String {
    let lines = description
    guard let width, lines.split(separator: "\n").contains(where: { $0.count > width }) else { return lines }
    let label = headings.map(\.count).max() ?? 0
    return (rows + (footer.map { [$0] } ?? [])).map { row in
      let title = row.first?.text ?? ""
      let members = zip(headings, row).dropFirst().filter { $0.1 != .empty }
        .map { "  \($0.0.padded(to: label))  \($0.1.text)" }
      return ([title] + members).joined(separator: "\n")
    }.joined(separator: "\n\n")
  }

  /// The table's lines, without trailing spaces and without a final line break.
  package var description: String {
    let body = rows + (footer.map { [$0] } ?? [])
    let columns = headings.indices.map { index in
      let cells = body.map { index < $0.count ? $0[index] : .empty }
      return Column(
        width: ([headings[index].count] + cells.map(\.text.count)).max() ?? 0,
        isNumeric: cells.contains { $0 != .empty } && cells.allSatisfy { !$0.isText })
    }
    let rule = columns.map { String(repeating: "─", count: $0.width) }
    var lines = [Self.line(headings, in: columns), Self.line(rule, in: columns)]
    lines += rows.map { Self.line($0.map(\.text), in: columns) }
    if let footer { lines += [Self.line(rule, in: columns), Self.line(footer.map(\.text), in: columns)] }
    return lines.joined(separator: "\n")
  }

  private struct Column {
    var width: Int
    var isNumeric: Bool
  }

  private static func line(_ texts: [String], in columns: [Column]) -> String {
    let cells = zip(texts, columns).map { text, column in
      column.isNumeric ? text.paddedBefore(to: column.width) : text.padded(to: column.width)
    }
    var line = cells.joined(separator: "  ")
    while line.hasSuffix(" ") { line.removeLast() }
    return line
  }
}

extension TextTable.Cell: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  package init(stringLiteral value: String) { self = .text(value) }
  package init(integerLiteral value: Int) { self = .number(value) }

  fileprivate var isText: Bool {
    if case .text = self { true } else { false }
  }

  fileprivate var text: String {
    switch self {
    case .text(let text): text.shown()
    case .number(let number): number.grouped
    case .empty: ""
    }
  }
}
