#if SQLite
  import SyncModels
  import SyncPorts

  // The checks that the rows are those that the library has written.
  extension FormatCheck {
    /// Compares the sums in the file with the rows, one table after another.
    static let sums = SummedTable.allCases.map { table in
      FormatCheck(table.part, "the sum of \(table.rows)") { connection, _ throws(SyncError) in
        guard let stored = try connection.storedSums() else {
          return [StoreFinding(.values, "the sums of the rows are missing or malformed")]
        }
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
      }
    }
  }
#endif
