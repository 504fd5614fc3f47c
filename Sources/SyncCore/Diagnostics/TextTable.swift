public import SyncModels

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
      // A number alone says nothing.
      let number = row.first.map { !$0.isText } ?? false
      let title = (number ? "\(headings[0]) " : "") + (row.first?.text ?? "")
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

extension SyncResult: CustomStringConvertible {
  /// The counts as an aligned table: a row per type, a column per count, and totals.
  ///
  /// Columns that are all zero are left out. A table without columns is left out as well. If edits
  /// were pushed, a line below gives their outcomes.
  public var description: String {
    let total = total
    let columns = SyncCounts.names.filter { $0.value(total) != 0 }
    guard !columns.isEmpty else { return pushLine ?? "nothing was done" }
    return table(of: columns).description + (pushLine.map { "\n" + $0 } ?? "")
  }

  /// A row per type, a column per count, and totals.
  ///
  /// - Parameter live: The number of each type's records in the store; `nil` for no such column.
  package func table(
    of columns: [SyncCounts.Named],
    live: [RecordType: Int]? = nil
  ) -> TextTable {
    func row(_ title: String, _ counts: SyncCounts, live count: Int?) -> [TextTable.Cell] {
      [.text(title)] + columns.map { .number($0.value(counts)) } + (count.map { [.number($0)] } ?? [])
    }
    return TextTable(
      ["type"] + columns.map(\.name) + (live == nil ? [] : ["in store"]),
      rows: entities.map { type, counts in
        row(type.rawValue, counts, live: live.map { $0[type, default: 0] })
      },
      footer: row("total", total, live: live.map { $0.values.reduce(0, +) }))
  }

  private var pushLine: String? {
    let parts = PushCounts.names.filter { $0.value(pushed) != 0 }.map {
      "\($0.value(pushed).grouped) \($0.name)"
    }
    guard !parts.isEmpty else { return nil }
    return "pushed: " + parts.joined(separator: ", ") + (pushed.isRemoteFull ? "; the remote is full" : "")
  }
}

extension Int {
  /// The number with a comma between thousands: `1,234,567`.
  package var grouped: String {
    let digits = String(magnitude)
    var text = self < 0 ? "-" : ""
    for (offset, digit) in digits.enumerated() {
      if offset > 0, (digits.count - offset) % 3 == 0 { text.append(",") }
      text.append(digit)
    }
    return text
  }
}

extension Counted {
  /// The same with a comma between thousands: `1,234,567 records`.
  package var grouped: String { "\(count.grouped) \(words)" }
}

extension String {
  /// The text padded with trailing spaces to a number of characters.
  package func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - count))
  }

  /// The text padded with leading spaces to a number of characters.
  package func paddedBefore(to width: Int) -> String {
    String(repeating: " ", count: max(0, width - count)) + self
  }
}

extension String {
  /// The text with control characters spelled out as in `\u{1b}`.
  ///
  /// It is safe for a terminal and a log. Ids, names and messages come from outside. The controls
  /// of C0 and C1 drive a terminal, and a line break forges a line of a log. Those of bidirectional
  /// text make both show another text.
  ///
  /// - Parameter keepsLineBreaks: Whether line breaks stay unchanged.
  package func shown(keepingLineBreaks keepsLineBreaks: Bool = false) -> String {
    let isPlain = unicodeScalars.allSatisfy { !$0.isControl || (keepsLineBreaks && $0 == "\n") }
    if isPlain { return self }
    var text = ""
    for scalar in unicodeScalars {
      if !scalar.isControl || (keepsLineBreaks && scalar == "\n") {
        text.unicodeScalars.append(scalar)
      } else {
        text += "\\u{\(String(scalar.value, radix: 16))}"
      }
    }
    return text
  }
}

extension Unicode.Scalar {
  fileprivate var isControl: Bool {
    switch value {
    case 0..<0x20, 0x7F...0x9F: true
    case 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
