/// The marks of one type's rows, as far as they were read: one bit for each row number, in chunks.
///
/// A page's rows are mostly adjacent, so marking a page writes one or two chunks instead of its
/// rows.
package final class MarkBitmap {
  package static let chunkShift: Int64 = 12
  package static let rowsPerChunk: Int64 = 1 << chunkShift
  package static let chunkSize = Int(rowsPerChunk / 8)

  /// The chunks in the order of their numbers.
  ///
  /// There are few, and a dictionary's first use by a process costs as much as a small page.
  private var chunks: [Chunk] = []
  private var last: Chunk?

  private final class Chunk {
    let number: Int64
    // Read and set for each record. No access calls back.
    @exclusivity(unchecked) var bits: [UInt8]
    var isChanged = false

    init(_ number: Int64, _ bits: [UInt8]) { (self.number, self.bits) = (number, bits) }

    /// Marks the rows of the chunk until one of another chunk.
    ///
    /// - Returns: The number of marked rows.
    func mark(_ rows: ArraySlice<Int64>) -> Int {
      var isChanged = false
      var count = 0
      for row in rows {
        guard row >> MarkBitmap.chunkShift == number else { break }
        count += 1
        let place = MarkBitmap.place(of: row)
        guard bits[place.byte] & place.bit == 0 else { continue }
        bits[place.byte] |= place.bit
        isChanged = true
      }
      if isChanged { self.isChanged = true }
      return count
    }
  }

  package init() {}

  /// Whether the chunk of a row was read.
  package func knows(_ row: Int64) -> Bool { chunk(of: row) != nil }

  /// Adds a chunk that was read; without bits, it has no marks.
  package func add(_ bits: [UInt8]?, as number: Int64) {
    // This library does not write chunks of another size. Marks only speed up the next sweep's
    // listing, so such a chunk counts as empty.
    let whole = bits.flatMap { $0.count == Self.chunkSize ? $0 : nil }
    chunks.insert(Chunk(number, whole ?? Array(repeating: 0, count: Self.chunkSize)), at: index(of: number))
  }

  /// Whether a row is marked; `nil` if its chunk was not read.
  package func isMarked(_ row: Int64) -> Bool? {
    guard let chunk = chunk(of: row) else { return nil }
    let place = Self.place(of: row)
    return chunk.bits[place.byte] & place.bit != 0
  }

  /// Marks rows, of which a chunk that was not read has no marks.
  package func mark(_ rows: [Int64]) {
    var rest = rows[...]
    while let row = markKnown(&rest) { add(nil, as: row >> Self.chunkShift) }
  }

  /// Marks rows until one whose chunk was not read.
  ///
  /// - Parameter rows: The rows; afterwards those that are left.
  /// - Returns: The row whose chunk was not read; `nil` once all are marked.
  package func markKnown(_ rows: inout ArraySlice<Int64>) -> Int64? {
    while let row = rows.first {
      guard let chunk = chunk(of: row) else { return row }
      rows = rows.dropFirst(chunk.mark(rows))
    }
    return nil
  }

  /// Whether some marks wait to be written.
  package var isChanged: Bool { chunks.contains { $0.isChanged } }

  /// Takes the changed chunks, which are then written.
  package func takeChanges() -> [(number: Int64, bits: [UInt8])] {
    let changed = chunks.filter(\.isChanged)
    for chunk in changed { chunk.isChanged = false }
    return changed.map { ($0.number, $0.bits) }
  }

  // A page's rows are mostly in one chunk.
  private func chunk(of row: Int64) -> Chunk? {
    let number = row >> Self.chunkShift
    if let last, last.number == number { return last }
    let index = index(of: number)
    guard index < chunks.count, chunks[index].number == number else { return nil }
    last = chunks[index]
    return last
  }

  /// The place of a chunk among those that were read.
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

  private static func place(of row: Int64) -> (byte: Int, bit: UInt8) {
    (Int(row & (rowsPerChunk - 1)) >> 3, 1 << UInt8(row & 7))
  }
}
