#if SQLite
  import SyncModels

  /// The marks of one type: one bit for each row number, stored in chunks.
  ///
  /// A page's rows are mostly adjacent, so marking a page writes one or two chunks instead of its
  /// rows.
  final class MarkBitmap {
    static let rowsPerChunk: Int64 = 4096

    let type: RecordType
    private let connection: Connection
    /// The loaded chunks, in the order of their numbers.
    ///
    /// There are few, and a dictionary's first use by a process costs as much as a small page.
    private var chunks: [Chunk] = []
    private var last: Chunk?

    private final class Chunk {
      let number: Int64
      // Read and set for each record. No access calls back.
      @exclusivity(unchecked) var bits: [UInt8]
      var isChanged = false

      init(_ number: Int64, _ bits: [UInt8]) {
        self.number = number
        self.bits = bits
      }

      func mark(_ rows: ArraySlice<Int64>) {
        var isChanged = false
        for row in rows {
          let place = MarkBitmap.place(of: row)
          guard bits[place.byte] & place.bit == 0 else { continue }
          bits[place.byte] |= place.bit
          isChanged = true
        }
        if isChanged { self.isChanged = true }
      }
    }

    init(of type: RecordType, on connection: Connection) {
      self.type = type
      self.connection = connection
    }

    func isMarked(_ row: Int64) throws(SyncError) -> Bool {
      let place = Self.place(of: row)
      return try chunk(place.chunk).bits[place.byte] & place.bit != 0
    }

    func mark(_ rows: [Int64]) throws(SyncError) {
      var rest = rows[...]
      while let first = rest.first {
        let chunk = try chunk(Self.place(of: first).chunk)
        let run = rest.prefix { Self.place(of: $0).chunk == chunk.number }
        chunk.mark(run)
        rest = rest.dropFirst(run.count)
      }
    }

    /// Writes the new marks.
    func flush() throws(SyncError) {
      let changed = chunks.filter(\.isChanged)
      guard !changed.isEmpty else { return }
      let statement = try connection.statement("INSERT OR REPLACE INTO marks VALUES (?, ?, ?)")
      for chunk in changed {
        try statement.bind(type.rawValue, at: 1)
        try statement.bind(chunk.number, at: 2)
        try statement.bind(chunk.bits, at: 3)
        try statement.run()
        chunk.isChanged = false
      }
    }

    /// Removes all marks.
    func clear() throws(SyncError) {
      chunks = []
      last = nil
      let statement = try connection.statement("DELETE FROM marks WHERE type = ?")
      try statement.bind(type.rawValue, at: 1)
      try statement.run()
    }

    /// The number of marked rows, live or not.
    func count() throws(SyncError) -> Int {
      let statement = try connection.statement("SELECT bits FROM marks WHERE type = ?")
      try statement.bind(type.rawValue, at: 1)
      defer { statement.reset() }
      var count = 0
      while try statement.step() {
        count += statement.bytes(0).reduce(0) { $0 + $1.nonzeroBitCount }
      }
      return count
    }

    // A page's rows are mostly in one chunk.
    private func chunk(_ number: Int64) throws(SyncError) -> Chunk {
      if let last, last.number == number { return last }
      let index = index(of: number)
      let isKnown = index < chunks.count && chunks[index].number == number
      let chunk = if isKnown { chunks[index] } else { try load(number, at: index) }
      last = chunk
      return chunk
    }

    /// The place of a chunk among the loaded ones.
    private func index(of number: Int64) -> Int {
      var range = chunks.indices
      while !range.isEmpty {
        let middle = range.lowerBound + range.count / 2
        range =
          chunks[middle].number < number
          ? middle + 1..<range.upperBound : range.lowerBound..<middle
      }
      return range.lowerBound
    }

    private func load(_ number: Int64, at index: Int) throws(SyncError) -> Chunk {
      let statement = try connection.statement("SELECT bits FROM marks WHERE type = ? AND chunk = ?")
      try statement.bind(type.rawValue, at: 1)
      try statement.bind(number, at: 2)
      defer { statement.reset() }
      let size = Int(Self.rowsPerChunk / 8)
      let bits = try statement.step() ? statement.bytes(0) : []
      // This library does not write chunks of another size. Marks only speed up the next sweep's
      // listing, so such a chunk counts as empty.
      let chunk = Chunk(number, bits.count == size ? bits : Array(repeating: 0, count: size))
      chunks.insert(chunk, at: index)
      return chunk
    }

    private static func place(of row: Int64) -> (chunk: Int64, byte: Int, bit: UInt8) {
      let within = Int(row & (rowsPerChunk - 1))
      return (row >> 12, within >> 3, 1 << UInt8(within & 7))
    }
  }
#endif
