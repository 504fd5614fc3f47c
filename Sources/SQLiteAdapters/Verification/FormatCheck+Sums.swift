#if SQLite
  import SyncModels
  import SyncPorts

  // The checks that the rows are those that the library has written.
  extension FormatCheck {
    static let sums = [areThere] + SummedTable.allCases.map(sum)

    private static let areThere = FormatCheck(.values, "the sums of the rows") {
      connection, _ throws(SyncError) in
      if try connection.storedSums() != nil { return [] }
      return [StoreFinding(.values, "the sums of the rows are missing or malformed")]
    }

    /// Compares a stored sum, if there is one, with the rows.
    private static func sum(of table: SummedTable) -> FormatCheck {
      FormatCheck(table.part, "the sum of \(table.rows)") { connection, _ throws(SyncError) in
        guard let stored = try connection.storedSums() else { return [] }
        if try connection.countedSum(of: table) == stored[table] { return [] }
        return [StoreFinding(table.part, "\(table.rows) are not as the library has written them")]
      }
    }
  }

  extension SummedTable {
    fileprivate var rows: String {
      switch self {
      case .records: "the ids of the rows"
      case .withheld: "the withheld changes"
      case .conflicts: "the conflicts"
      case .marks: "the marks"
      case .values: "the kept values"
      case .changes: "the observed changes"
      case .declarations: "the declarations and the store's names"
      }
    }
  }
#endif
