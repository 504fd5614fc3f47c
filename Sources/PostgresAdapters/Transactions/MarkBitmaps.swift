#if Postgres
  import CanonicalSyncDatabases
  import SyncModels

  /// The marks of rows that a listing held and left as they were, by type.
  ///
  /// A row that the listing writes has the listing's number instead, which costs nothing more.
  struct MarkBitmaps {
    /// The number of chunks that are read as one value, of 8 MiB.
    static let mostChunksInScan = 16384

    private var types: [RecordType: MarkBitmap] = [:]

    /// The marks of a type, as far as they were read.
    subscript(type: RecordType) -> MarkBitmap {
      mutating get {
        let marks = types[type] ?? MarkBitmap()
        types[type] = marks
        return marks
      }
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

    /// Takes the numbers and bits of the changed chunks of each type, which are then written.
    mutating func takeChanges() -> [(type: RecordType, chunks: [ColumnArray])] {
      types.filter(\.value.isChanged).map { type, marks in
        var columns = [ColumnArray](.int64, .bytes)
        for (number, bits) in marks.takeChanges() {
          columns[0].append(number)
          columns[1].append(bits[...])
        }
        return (type, columns)
      }
    }
  }

  extension MarkBitmap {
    /// The numbers of the chunks of some rows that were not read.
    func missingChunks(of rows: [Int64]) -> [Int64] {
      Array(Set(rows.lazy.filter { !self.knows($0) }.map { $0 >> MarkBitmap.chunkShift }))
    }
  }
#endif
