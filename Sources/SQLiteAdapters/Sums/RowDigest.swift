#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// A digest of one row: a sum with one term for each column.
  ///
  /// Each term depends on the row as well, so that rows cannot exchange values unnoticed. NULL has
  /// no term.
  struct RowDigest {
    private let key: UInt64
    private(set) var sum: UInt64

    /// Begins the digest of a row with a number.
    init(_ table: SummedTable.Seed, row: Int64) {
      key = Self.mixed(table.number ^ UInt64(bitPattern: row))
      sum = key
    }

    @inline(__always) mutating func add(_ value: Int64, at column: Int32) {
      add(UInt64(bitPattern: value), column, 0)
    }

    @inline(__always) mutating func add(_ text: String, at column: Int32) {
      add(Self.digest(of: text), column, Self.text)
    }

    @inline(__always) mutating func add(_ bytes: ArraySlice<UInt8>, at column: Int32) {
      bytes.withUnsafeBytes { add(blob: $0, at: column) }
    }

    mutating func add(text bytes: UnsafeRawBufferPointer, at column: Int32) {
      add(csqlite_digest(bytes.baseAddress, bytes.count), column, Self.text)
    }

    mutating func add(blob bytes: UnsafeRawBufferPointer, at column: Int32) {
      add(csqlite_digest(bytes.baseAddress, bytes.count), column, Self.blob)
    }

    /// Adds a column as it is stored, whatever its type.
    mutating func add(_ value: ColumnValue, at column: Int32) {
      switch value.type {
      case SQLITE_INTEGER: add(value.integer, at: column)
      case SQLITE_FLOAT: add(value.double.bitPattern, column, Self.real)
      case SQLITE_TEXT: value.withBytes { add(text: $0, at: column) }
      case SQLITE_BLOB: value.withBytes { add(blob: $0, at: column) }
      default: break
      }
    }

    /// Adds the columns from a number on, as they are stored.
    mutating func add(_ columns: Range<Int32>, of statement: Statement) {
      var column = columns.lowerBound
      while column < columns.upperBound {
        add(statement.value(column), at: column)
        column += 1
      }
    }

    /// The digest of a text's bytes.
    @inline(__always) static func digest(of text: String) -> UInt64 {
      var text = text
      return text.withUTF8 { csqlite_digest($0.baseAddress, $0.count) }
    }

    static func digest(of bytes: UnsafeRawBufferPointer) -> UInt64 {
      csqlite_digest(bytes.baseAddress, bytes.count)
    }

    /// Adds the digest of a text.
    @inline(__always) mutating func add(digestOfText digest: UInt64, at column: Int32) {
      add(digest, column, Self.text)
    }

    @inline(__always) private mutating func add(_ digest: UInt64, _ column: Int32, _ type: UInt64) {
      let place = UInt64(truncatingIfNeeded: column) &* 0x9FB2_1C65_1E98_DF25
      sum &+= Self.mixed((key &+ place &+ type) ^ digest)
    }

    private static let text: UInt64 = 1 << 61
    private static let blob: UInt64 = 1 << 62
    private static let real: UInt64 = 1 << 63

    @inline(__always) private static func mixed(_ number: UInt64) -> UInt64 {
      let product = number &* 0x9E37_79B9_7F4A_7C15
      return (product ^ (product >> 32)) &* 0xD6E8_FEB8_6659_FD93
    }
  }
#endif
