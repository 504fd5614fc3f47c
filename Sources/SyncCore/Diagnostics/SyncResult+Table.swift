public import SyncModels

extension SyncResult: CustomStringConvertible {
  /// The counts as an aligned table: a row per type, a column per count, and totals.
  ///
  /// Columns that are all zero are left out. A table without columns is left out as well. If edits
  /// were pushed, a line below gives their outcomes.
  public var description: String {
    let total = total
    let columns = SyncCounts.names.filter { total[keyPath: $0.path] != 0 }
    guard !columns.isEmpty else { return pushLine ?? "nothing was done" }
    let header = ["type"] + columns.map(\.name)
    var rows = entities.map { row in
      [row.type.rawValue] + columns.map { String(row.counts[keyPath: $0.path]) }
    }
    rows.append(["total"] + columns.map { String(total[keyPath: $0.path]) })
    let widths = header.indices.map { index in ([header] + rows).map { $0[index].count }.max() ?? 0 }
    let lines = ([header] + rows).map { Self.line($0, widths: widths) }
    return (lines.dropLast() + [String(repeating: "-", count: lines[0].count)] + lines.suffix(1))
      .joined(separator: "\n") + (pushLine.map { "\n" + $0 } ?? "")
  }

  private var pushLine: String? {
    let parts = PushCounts.names.filter { pushed[keyPath: $0.path] != 0 }.map {
      "\(pushed[keyPath: $0.path]) \($0.name)"
    }
    guard !parts.isEmpty else { return nil }
    return "pushed: " + parts.joined(separator: ", ") + (pushed.isRemoteFull ? "; the remote is full" : "")
  }

  private static func line(_ cells: [String], widths: [Int]) -> String {
    zip(cells, widths).enumerated().map { index, cell in
      let padding = String(repeating: " ", count: max(0, cell.1 - cell.0.count))
      return index == 0 ? cell.0 + padding : padding + cell.0
    }.joined(separator: "  ")
  }
}
