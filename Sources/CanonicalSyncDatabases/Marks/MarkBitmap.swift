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
  }

  package init() {}

  /// Whether the chunk of a row was read.
  package func knows(_ row: Int64) -> Bool { chunk(of: row) != nil }

  /// Adds a chunk that was read; without bits, it has no marks.
  package func add(_ bits: [UInt8]?, as number: Int64) { _ = insert(bits, as: number) }

  package func isMarked(_ row: Int64) -> Bool {
    guard let chunk = chunk(of: row) else { return false }
    let place = Self.place(of: row)
    return chunk.bits[place.byte] & place.bit != 0
  }

  /// Marks rows, of which a chunk that was not read has no marks.
  package func mark(_ rows: [Int64]) {
    for row in rows {
      let chunk = chunk(of: row) ?? insert(nil, as: row >> Self.chunkShift)
      let place = Self.place(of: row)
      guard chunk.bits[place.byte] & place.bit == 0 else { continue }
      chunk.bits[place.byte] |= place.bit
      chunk.isChanged = true
    }
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

  private func insert(_ bits: [UInt8]?, as number: Int64) -> Chunk {
    // This library does not write chunks of another size. Marks only speed up the next sweep's
    // listing, so such a chunk counts as empty.
    let whole = bits.flatMap { $0.count == Self.chunkSize ? $0 : nil }
    let chunk = Chunk(number, whole ?? Array(repeating: 0, count: Self.chunkSize))
    chunks.insert(chunk, at: index(of: number))
    last = chunk
    return chunk
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
