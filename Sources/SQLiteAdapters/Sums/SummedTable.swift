#if SQLite
  import SyncModels
  import SyncPorts

  /// The tables of which the file has a sum: all rows' digests, added up.
  ///
  /// The sums show rows that another tool has changed, added or removed, and damaged bytes.
  enum SummedTable: Int, CaseIterable {
    case records, withheld, conflicts, marks, values, changes, declarations

    /// The tables that have a sum since the layout with the first sums.
    static let first: [SummedTable] = [.records, .withheld, .conflicts, .marks, .values]

    /// The start of every digest of a table, so that rows of two tables differ.
    struct Seed {
      let number: UInt64
    }

    /// The start of a table's digests. The tables of records have one for each type.
    static func seed(ofRecords type: RecordType) -> Seed {
      Seed(number: RowDigest.digest(of: type.rawValue))
    }

    var seed: Seed { Seed(number: UInt64(rawValue + 1) << 32) }

    /// The part of a verification that the table belongs to.
    var part: StoreFinding.Part {
      switch self {
      case .records: .rows
      case .withheld: .withheld
      case .conflicts: .conflicts
      case .marks, .values, .changes: .values
      case .declarations: .schema
      }
    }

    /// Reads all rows: the number of each, then its other columns.
    ///
    /// Each type's records are in a table of their own.
    var select: String {
      switch self {
      // A row is never removed, and gets no other id. What else it has changes too often.
      case .records: "SELECT row, id FROM "
      case .withheld: "SELECT entry, \(WithheldRows.columns) FROM set_aside"
      case .conflicts: "SELECT number, \(ConflictRows.columns) FROM conflicts"
      // Rows that are known by their keys, because their numbers may change.
      case .marks: "SELECT 0, type, chunk, bits FROM marks"
      case .values: "SELECT 0, key, value FROM state"
      case .changes: "SELECT position, records FROM changes"
      // Three small tables. The column that says how far a field is filled changes too often.
      case .declarations:
        """
        SELECT 0, 'entities/' || type, declaration, NULL FROM entities
        UNION ALL SELECT 0, 'fields/' || type || '/' || name || '/' || is_key, column_name, is_declared FROM fields
        UNION ALL SELECT 0, 'meta/' || key, value, NULL FROM meta WHERE key NOT IN ('catalog', '\(TableSums.key)')
        """
      }
    }

    /// The column with the number of a row.
    var number: String { self == .conflicts ? "number" : "entry" }

    /// The digest of a row of ``select``.
    func digest(of row: Statement, from seed: Seed? = nil) -> UInt64 {
      let seed = seed ?? self.seed
      var number = row.integer(0)
      if self == .marks { number = Self.number(row.keyDigest(1), chunk: row.integer(2)) }
      if self == .values || self == .declarations { number = Int64(bitPattern: row.keyDigest(1)) }
      var digest = RowDigest(seed, row: number)
      digest.add(1..<row.columnCount, of: row)
      return digest.sum
    }

    /// The digest of a kept value's row.
    static func digest(ofValue bytes: [UInt8], key: String) -> UInt64 {
      var digest = RowDigest(
        SummedTable.values.seed, row: Int64(bitPattern: RowDigest.digest(of: key)))
      digest.add(key, at: 1)
      digest.add(bytes[...], at: 2)
      return digest.sum
    }

    /// The digest of a row of observed changes.
    static func digest(ofChanges records: String?, at position: Int64) -> UInt64 {
      var digest = RowDigest(SummedTable.changes.seed, row: position)
      if let records { digest.add(records, at: 1) }
      return digest.sum
    }

    /// The digest of a row of marks.
    static func digest(ofMarks bits: [UInt8], type: RecordType, chunk: Int64) -> UInt64 {
      let number = number(RowDigest.digest(of: type.rawValue), chunk: chunk)
      var digest = RowDigest(SummedTable.marks.seed, row: number)
      digest.add(type.rawValue, at: 1)
      digest.add(chunk, at: 2)
      digest.add(bits[...], at: 3)
      return digest.sum
    }

    private static func number(_ type: UInt64, chunk: Int64) -> Int64 {
      Int64(bitPattern: type &+ UInt64(bitPattern: chunk))
    }
  }

  extension Statement {
    fileprivate func keyDigest(_ column: Int32) -> UInt64 {
      value(column).withBytes { RowDigest.digest(of: $0) }
    }
  }
#endif
