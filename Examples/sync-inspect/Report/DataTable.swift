import CanonicalSyncPages

/// A table of a page, in a region that scrolls sideways by itself.
///
/// On a narrow screen each row is a block, with a line for each cell that is not empty.
struct DataTable {
  /// A column.
  struct Column {
    /// The heading.
    var title: String
    /// Whether the cells are numbers, which are aligned right.
    var isNumeric = false

    /// A column of texts.
    static func text(_ title: String) -> Column { Column(title: title) }

    /// A column of numbers.
    static func number(_ title: String) -> Column { Column(title: title, isNumeric: true) }
  }

  /// The name of the table, for screen readers.
  let label: String
  /// The columns, of which the first has the names of the rows.
  let columns: [Column]
  /// The rows, each with a cell for each column; `nil` for an empty one.
  private(set) var rows: [[HTML?]]

  /// Creates a table without the columns that have only empty cells.
  init(_ label: String, _ columns: [Column], rows: [[HTML?]]) {
    self.label = label
    let kept = columns.indices.filter { index in
      index == 0 || rows.contains { index < $0.count && $0[index] != nil }
    }
    self.columns = kept.map { columns[$0] }
    self.rows = rows.map { row in kept.map { $0 < row.count ? row[$0] : nil } }
  }

  /// Renders the table with the first rows that fit into a number of bytes.
  func markup(within budget: Int) -> (table: HTML, shown: Int) {
    let (rows, excerpt) = Excerpt(rows, of: rows.count).markup(within: budget, row)
    let headings = columns.map { column -> HTML in
      "<th scope=\"col\"\(Self.mark(column))>\(column.title)</th>"
    }
    // On a narrow screen, the style sheet puts them before the cells.
    let labels = columns.enumerated().map { "--c\($0 + 1):'\($1.title)';" as HTML }
    let table: HTML = """
      <div class="scroll" role="region" tabindex="0" aria-label="\(label)">\
      <table class="rows" style="\(labels)">
      <thead><tr>\(headings)</tr></thead>
      <tbody>
      \(rows)</tbody>
      </table></div>

      """
    return (table, excerpt.shown.count)
  }

  /// Renders the table, and a word on the rows that it leaves out.
  ///
  /// - Parameters:
  ///   - total: The length of the list whose first elements are the rows; `nil` if it is unknown.
  ///   - more: Where to find the others.
  func markup(within budget: Int, of total: Int?, more: HTML) -> HTML {
    let (table, shown) = markup(within: budget)
    return table + Excerpt(Array(rows.prefix(shown)), of: total).remainder(more)
  }

  private func row(_ cells: [HTML?]) -> HTML {
    let cells = zip(columns, cells).enumerated().map { index, cell -> HTML in
      let content = cell.1 ?? ""
      return index == 0
        ? "<th scope=\"row\"\(Self.mark(cell.0))>\(content)</th>"
        : "<td\(Self.mark(cell.0))>\(content)</td>"
    }
    return "<tr>\(cells)</tr>\n"
  }

  private static func mark(_ column: Column) -> HTML { column.isNumeric ? " class=\"n\"" : "" }
}
