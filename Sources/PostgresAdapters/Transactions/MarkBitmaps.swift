#if Postgres
  import SyncModels

  /// The marks of rows that a listing held and left as they were: a bit for each row's number.
  ///
  /// The bits are in chunks, which are rows of the table `marks`. Rows of one page are mostly
  /// adjacent, so a page without changes writes one or two chunks in place of its rows. A row that
  /// the listing writes has the listing's number instead, which costs nothing more.
  struct MarkBitmaps {
    static let chunkShift: Int64 = 12
    static let rowsPerChunk: Int64 = 1 << chunkShift
    static let chunkSize = Int(rowsPerChunk / 8)
    /// The number of chunks that are read as one value, of 8 MiB.
    static let mostChunksInScan = 16384

    private var types: [RecordType: MarkBitmap] = [:]

    /// The marks of a type, as far as they were read.
    subscript(type: RecordType) -> MarkBitmap {
      get { types[type] ?? MarkBitmap() }
      set { types[type] = newValue }
    }

    /// Whether some marks wait to be written.
    var isChanged: Bool { types.values.contains { $0.isChanged } }

    /// Reads some chunks of a type.
    static func chunks(_ numbers: [Int64], of type: RecordType) -> Statement {
      Statement("SELECT chunk, bits FROM marks WHERE type = $1::text AND chunk = ANY ($2::bigint[])") {
        $0.add(text: type.rawValue)
        var column = ColumnArray(.int64)
        for number in numbers { column.append(number) }
        $0.add(column)
      }
    }

    /// Takes the changed chunks of each type, which are then written.
    mutating func takeChanges() -> [(type: RecordType, chunks: [ColumnArray])] {
      types.keys.compactMap { type in types[type]?.takeChanges().map { (type, $0) } }
    }
  }

  extension MarkBitmaps {
    /// The marks of one type.
    struct MarkBitmap {
      private var chunks: [Int64: Chunk] = [:]

      private struct Chunk {
        var bits = [UInt8](repeating: 0, count: chunkSize)
        var isChanged = false
      }

      var isChanged: Bool { chunks.values.contains { $0.isChanged } }

      /// The numbers of the chunks of some rows that were not read.
      func missingChunks(of rows: [Int64]) -> [Int64] {
        var missing: [Int64] = []
        var last: Int64?
        for row in rows where row >> chunkShift != last {
          let number = row >> chunkShift
          last = number
          if chunks[number] == nil { missing.append(number) }
        }
        return Array(Set(missing))
      }

      /// Adds chunks that were read. Those that the table does not have are empty.
      mutating func add(_ found: [Int64: [UInt8]], of numbers: [Int64]) {
        for number in numbers {
          // A chunk of another size, which the table refuses, counts as empty.
          let bits = found[number].flatMap { $0.count == chunkSize ? $0 : nil }
          chunks[number] = bits.map { Chunk(bits: $0) } ?? Chunk()
        }
      }

      func isMarked(_ row: Int64) -> Bool {
        guard let chunk = chunks[row >> chunkShift] else { return false }
        return chunk.bits[Self.byte(of: row)] & Self.bit(of: row) != 0
      }

      /// Marks rows whose chunks were read.
      mutating func mark(_ rows: [Int64]) {
        var rest = rows[...]
        while let first = rest.first {
          let number = first >> chunkShift
          let run = rest.prefix { $0 >> chunkShift == number }
          // Taken out, so that it is changed in place.
          var chunk = chunks.removeValue(forKey: number) ?? Chunk()
          for row in run where chunk.bits[Self.byte(of: row)] & Self.bit(of: row) == 0 {
            chunk.bits[Self.byte(of: row)] |= Self.bit(of: row)
            chunk.isChanged = true
          }
          chunks[number] = chunk
          rest = rest.dropFirst(run.count)
        }
      }

      /// The numbers and bits of the changed chunks; `nil` if there are none.
      fileprivate mutating func takeChanges() -> [ColumnArray]? {
        var columns = [ColumnArray](.int64, .bytes)
        for number in chunks.keys where chunks[number]?.isChanged == true {
          columns[0].append(number)
          columns[1].append(chunks[number]?.bits[...])
          chunks[number]?.isChanged = false
        }
        return columns[0].count > 0 ? columns : nil
      }

      private static func byte(of row: Int64) -> Int { Int(row & (rowsPerChunk - 1)) >> 3 }
      private static func bit(of row: Int64) -> UInt8 { 1 << UInt8(row & 7) }
    }
  }
#endif
