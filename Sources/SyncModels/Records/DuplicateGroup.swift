/// The live records of one type that share a natural key.
public struct DuplicateGroup: Hashable, Sendable {
  /// The natural key.
  public let key: String
  /// The position of the first record in the store.
  ///
  /// Natural keys are in no order that a store uses. Changing many groups in the order of their
  /// positions reads the store's file once from start to end. The order of keys would need random
  /// access.
  public private(set) var place: Int64
  // Stored apart from `others`: most groups have two records, and many groups are kept at a time.
  private var next: Int64?
  private var others: [Int64] = []

  /// Creates a group of one record.
  public init(key: String, place: Int64) {
    self.key = key
    self.place = place
  }

  /// Creates a group from the positions of its records; `nil` for none.
  public init?(key: String, places: some Sequence<Int64>) {
    var places = places.makeIterator()
    guard let first = places.next() else { return nil }
    self.init(key: key, place: first)
    while let other = places.next() { add(other) }
  }

  /// The number of records with the key.
  public var count: Int { (next == nil ? 1 : 2) + others.count }

  /// The positions of all records, the first one first.
  public var places: [Int64] {
    guard let next else { return [place] }
    return others.isEmpty ? [place, next] : [place, next] + others
  }

  /// Adds a record.
  public mutating func add(_ other: Int64) {
    let later = max(place, other)
    place = min(place, other)
    if next == nil { next = later } else { others.append(later) }
  }
}
