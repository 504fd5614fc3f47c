public import SyncModels

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
