#if Postgres
  import CanonicalSyncCPostgres
  import SyncModels

  /// The rows of a result, in PostgreSQL's binary format.
  final class ResultRows: RandomAccessCollection {
    private let result: OpaquePointer
    let count: Int

    init(_ result: OpaquePointer) {
      self.result = result
      count = Int(PQntuples(result))
    }

    deinit { PQclear(result) }

    /// The number of rows that a statement without a result changed.
    var changed: Int { PQcmdTuples(result).flatMap { Int(String(cString: $0)) } ?? 0 }

    subscript(row: Int) -> ResultRow { ResultRow(rows: self, row: Int32(truncatingIfNeeded: row)) }

    var startIndex: Int { 0 }
    var endIndex: Int { count }

    fileprivate func value(_ row: Int32, _ column: Int32) -> UnsafeRawBufferPointer? {
      guard PQgetisnull(result, row, column) == 0 else { return nil }
      return UnsafeRawBufferPointer(
        start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
    }
  }

  /// One row of a result. A value of another form than expected reads as zero or as empty.
  struct ResultRow {
    fileprivate let rows: ResultRows
    fileprivate let row: Int32

    func isNull(_ column: Int) -> Bool { value(column) == nil }

    func integer(_ column: Int) -> Int64 { optionalInteger(column) ?? 0 }

    func optionalInteger(_ column: Int) -> Int64? {
      guard let value = value(column) else { return nil }
      var number: Int64 = 0
      guard value.count <= 8 else { return 0 }
      for (place, byte) in value.enumerated() {
        number = place == 0 ? Int64(Int8(bitPattern: byte)) : number << 8 | Int64(byte)
      }
      return number
    }

    func bool(_ column: Int) -> Bool { value(column)?.first == 1 }

    func bytes(_ column: Int) -> [UInt8] { value(column).map { Array($0) } ?? [] }

    func text(_ column: Int) -> String { optionalText(column) ?? "" }

    func optionalText(_ column: Int) -> String? {
      value(column).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Whether a value has exactly some bytes.
    func holds(_ bytes: ArraySlice<UInt8>, in column: Int) -> Bool {
      guard let value = value(column) else { return false }
      return bytes.withUnsafeBytes { Self.order(of: $0, relativeTo: value) == 0 }
    }

    /// Whether a text equals a constant word of this library.
    func holds(_ word: StaticString, in column: Int) -> Bool {
      let word = UnsafeRawBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
      return value(column).map { Self.order(of: word, relativeTo: $0) == 0 } ?? false
    }

    /// The order of a key relative to the key in two columns.
    ///
    /// It is negative if the key comes before that one, and 0 if they are equal.
    func order(of key: String, relativeTo column: Int) -> Int {
      guard let head = value(column) else { return -1 }
      let rest = value(column + 1).flatMap { $0.isEmpty ? nil : $0 }
      var key = key
      return key.withUTF8 { utf8 in
        let bytes = UnsafeRawBufferPointer(utf8)
        guard let rest else { return Self.order(of: bytes, relativeTo: head) }
        // Only a head of the greatest size has a rest.
        let order = Self.order(
          of: UnsafeRawBufferPointer(rebasing: bytes.prefix(head.count)), relativeTo: head)
        if order != 0 { return order }
        return Self.order(of: UnsafeRawBufferPointer(rebasing: bytes.dropFirst(head.count)), relativeTo: rest)
      }
    }

    private static func order(
      of bytes: UnsafeRawBufferPointer, relativeTo other: UnsafeRawBufferPointer
    ) -> Int {
      Int(cpostgres_order(bytes.baseAddress, bytes.count, other.baseAddress, other.count))
    }

    /// The key in two columns.
    func key(_ column: Int) -> String {
      if let rest = value(column + 1), !rest.isEmpty {
        return StoredKey.text(bytes(column), bytes(column + 1))
      }
      return text(column)
    }

    /// The version in three columns.
    func version(_ column: Int) -> Version {
      Version(
        epoch: integer(column), sequence: integer(column + 1),
        modifiedAt: Timestamp(microseconds: integer(column + 2)))
    }

    /// The elements of an array of bytes or texts.
    func array(_ column: Int) -> [[UInt8]] {
      guard let value = value(column), value.count >= 20 else { return [] }
      func word(_ offset: Int) -> Int {
        Int(UInt32(bigEndian: value.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
      }
      var elements: [[UInt8]] = []
      var offset = 20
      while elements.count < word(12), offset + 4 <= value.count {
        let count = word(offset)
        offset += 4
        guard offset + count <= value.count else { break }
        elements.append(Array(value[offset..<offset + count]))
        offset += count
      }
      return elements
    }

    func withBytes<R>(_ column: Int, _ body: (UnsafeRawBufferPointer?) -> R) -> R { body(value(column)) }

    private func value(_ column: Int) -> UnsafeRawBufferPointer? {
      rows.value(row, Int32(truncatingIfNeeded: column))
    }
  }
#endif
