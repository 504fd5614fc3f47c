/// A map sorted by key, whose copies share storage until they are changed.
///
/// Entries are in short sorted chunks, each with its own buffer. A change to a copy duplicates the
/// affected chunks and the list of chunks, never the whole map. A transaction that writes one page
/// into a large table therefore stays cheap.
struct OrderedMap<Key: Comparable & Sendable, Value: Sendable>: Sendable {
  typealias Entry = (key: Key, value: Value)

  private var chunks: [[Entry]] = []
  private(set) var count = 0

  init() {}

  private static var capacity: Int { 128 }

  subscript(key: Key) -> Value? {
    get {
      let place = place(of: key)
      return place.isTaken ? chunks[place.chunk][place.index].value : nil
    }
    set {
      let place = place(of: key)
      switch (newValue, place.isTaken) {
      case (let value?, true): chunks[place.chunk][place.index].value = value
      case (let value?, false): insert((key, value), at: place)
      case (nil, true): remove(at: place)
      case (nil, false): break
      }
    }
  }

  private struct Place {
    var chunk: Int
    var index: Int
    var isTaken: Bool
  }

  private func place(of key: Key) -> Place {
    guard !chunks.isEmpty else { return Place(chunk: 0, index: 0, isTaken: false) }
    let chunk = Swift.max(0, Self.partition(0..<chunks.count) { !(key < chunks[$0][0].key) } - 1)
    let index = Self.partition(0..<chunks[chunk].count) { chunks[chunk][$0].key < key }
    let isTaken = index < chunks[chunk].count && !(key < chunks[chunk][index].key)
    return Place(chunk: chunk, index: index, isTaken: isTaken)
  }

  /// The first number of a range for which a condition no longer holds.
  private static func partition(_ range: Range<Int>, _ holds: (Int) -> Bool) -> Int {
    var (low, high) = (range.lowerBound, range.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if holds(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private mutating func insert(_ entry: Entry, at place: Place) {
    count += 1
    guard !chunks.isEmpty else { return chunks.append([entry]) }
    let isFull = chunks[place.chunk].count >= Self.capacity
    if isFull, place.chunk == chunks.count - 1, place.index == chunks[place.chunk].count {
      // Entries in ascending order fill chunk after chunk. Splitting would leave each half empty.
      return chunks.append([entry])
    }
    chunks[place.chunk].insert(entry, at: place.index)
    guard isFull else { return }
    let upper = Array(chunks[place.chunk][(Self.capacity / 2)...])
    chunks[place.chunk].removeSubrange((Self.capacity / 2)...)
    chunks.insert(upper, at: place.chunk + 1)
  }

  private mutating func remove(at place: Place) {
    count -= 1
    chunks[place.chunk].remove(at: place.index)
    if chunks[place.chunk].isEmpty { chunks.remove(at: place.chunk) }
  }
}

extension OrderedMap: Sequence {
  /// The entries from a position on, in order.
  struct Iterator: Sequence, IteratorProtocol {
    fileprivate let chunks: [[Entry]]
    fileprivate var chunk: Int
    fileprivate var index: Int

    mutating func next() -> Entry? {
      while chunk < chunks.count {
        if index < chunks[chunk].count {
          defer { index += 1 }
          return chunks[chunk][index]
        }
        chunk += 1
        index = 0
      }
      return nil
    }
  }

  func makeIterator() -> Iterator {
    Iterator(chunks: chunks, chunk: 0, index: 0)
  }

  /// The entries whose keys are not less than the given one.
  func entries(from key: Key) -> Iterator {
    let place = place(of: key)
    return Iterator(chunks: chunks, chunk: place.chunk, index: place.index)
  }

  /// The entries whose keys are greater than the given one; all of them for `nil`.
  func entries(after key: Key?) -> Iterator {
    guard let key else { return makeIterator() }
    let place = place(of: key)
    return Iterator(chunks: chunks, chunk: place.chunk, index: place.index + (place.isTaken ? 1 : 0))
  }

  /// The entries from a position back to the first.
  struct BackwardIterator: Sequence, IteratorProtocol {
    fileprivate let chunks: [[Entry]]
    fileprivate var chunk: Int
    /// The number of entries left in the chunk.
    fileprivate var left: Int

    mutating func next() -> Entry? {
      while left == 0 {
        guard chunk > 0 else { return nil }
        chunk -= 1
        left = chunks[chunk].count
      }
      left -= 1
      return chunks[chunk][left]
    }
  }

  /// The entries whose keys are less than the given one, the greatest first.
  ///
  /// It has all entries for `nil`.
  func entriesBackwards(before key: Key?) -> BackwardIterator {
    guard let key else { return BackwardIterator(chunks: chunks, chunk: chunks.count, left: 0) }
    let place = place(of: key)
    return BackwardIterator(chunks: chunks, chunk: place.chunk, left: place.index)
  }

  /// The number of entries with a greater key.
  ///
  /// - Complexity: O(*m*) in the number of chunks.
  func count(after key: Key?) -> Int {
    guard let key else { return count }
    let place = place(of: key)
    let before = chunks[..<place.chunk].reduce(0) { $0 + $1.count }
    return count - before - place.index - (place.isTaken ? 1 : 0)
  }
}
