#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The checksum of a row's columns, which a column of the row itself has.
  ///
  /// Every statement that writes one of the columns sets it, so a row that differs from its
  /// checksum is damaged, or another tool has written it. Rows from before the checksums have NULL.
  ///
  /// Columns are added in their order. NULL adds nothing, so it may be left out at the end.
  struct RowChecksum {
    private var digest: UInt64 = 0
    private var place: Int32 = 0

    static let column = "checksum"

    /// The checksum, as the column has it.
    var value: Int64 { Int64(csqlite_checksum(digest)) }

    @inline(__always) mutating func add(_ value: Int64) {
      add(UInt64(bitPattern: value), SQLITE_INTEGER)
    }

    mutating func add(_ text: String) { add(digestOfText: RowDigest.digest(of: text)) }

    mutating func add(_ text: String?) {
      if let text { add(text) } else { skip() }
    }

    mutating func add(word: StaticString) {
      add(digestOfText: csqlite_digest(word.utf8Start, word.utf8CodeUnitCount))
    }

    @inline(__always) mutating func add(digestOfText digest: UInt64) { add(digest, SQLITE_TEXT) }

    mutating func add(_ payload: Payload) {
      payload.bytes.withUnsafeBytes { add(blob: $0) }
    }

    @inline(__always) mutating func add(blob bytes: UnsafeRawBufferPointer) {
      add(csqlite_digest_of_blob(bytes.baseAddress, bytes.count), SQLITE_BLOB)
    }

    /// Leaves out some columns that are NULL.
    @inline(__always) mutating func skip(_ count: Int32 = 1) { place += count }

    @inline(__always) private mutating func add(_ word: UInt64, _ type: Int32) {
      digest = csqlite_add_column(digest, place, type, word)
      place += 1
    }
  }

  // In SQL: for verifications, and for columns that only the row has.
  extension RowChecksum {
    private static let function = "canonicalsync_checksum"

    /// Registers the function on a connection.
    static func install(on handle: OpaquePointer) {
      let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY
      sqlite3_create_function_v2(handle, function, -1, flags, nil, csqlite_give_checksum, nil, nil, nil)
    }

    /// The checksum of some columns, as an expression.
    static func of(_ columns: [String]) -> String { "\(function)(\(columns.joined(separator: ", ")))" }

    /// Selects something of the rows whose checksum is not that of an expression.
    static func differing(_ selected: String, from table: String, _ checksum: String) -> String {
      "SELECT \(selected) FROM \(table) WHERE \(column) IS NOT NULL AND \(column) IS NOT \(checksum)"
    }
  }

  // The checksums of records, in the order of ``EntityTable/checkedColumns``.
  extension RowChecksum {
    init(of copy: Record) {
      self.init(RowDigest.digest(of: copy.id.key), copy.version, tag: copy.entityTag)
      add(Int64(copy.schemaVersion))
      add(copy.payload)
    }

    init(of tombstone: Tombstone) {
      self.init(RowDigest.digest(of: tombstone.id.key), tombstone.version, tag: tombstone.entityTag)
    }

    /// Begins the checksum of a record.
    ///
    /// - Parameter id: The digest of the id.
    @inline(__always) init(_ id: UInt64, _ version: Version, tag: String?) {
      self.init()
      add(digestOfText: id)
      add(version, tag: tag)
    }

    @inline(__always) mutating func add(_ version: Version, tag: String?) {
      add(version.epoch)
      add(version.sequence)
      add(version.modifiedAt.microseconds)
      add(tag)
    }
  }
#endif
