/// Live records of one type that share a natural key, as a store lists them.
public struct DuplicateGroup: Hashable, Sendable {
  /// The natural key.
  public let key: String
  /// Where the first of them lies in the store, counted along it.
  ///
  /// Keys are in no order that a store would know of. Who changes many groups, one after the other in the order of their places, has the store go through
  /// its file once, where the order of keys would have it jump about.
  public private(set) var place: Int64
  // Mostly there is one more, and many groups are kept at a time.
  private var next: Int64?
  private var others: [Int64] = []

  /// Describes a group, with one record so far.
  public init(key: String, place: Int64) {
    self.key = key
    self.place = place
  }

  /// Describes a group whose records lie in some places; `nil` where there are none.
  public init?(key: String, places: some Sequence<Int64>) {
    var places = places.makeIterator()
    guard let first = places.next() else { return nil }
    self.init(key: key, place: first)
    while let other = places.next() { add(other) }
  }

  /// How many records have the key.
  public var count: Int { (next == nil ? 1 : 2) + others.count }

  /// Where each of them lies, the first one first.
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
