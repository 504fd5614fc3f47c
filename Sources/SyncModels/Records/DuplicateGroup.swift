/// Live records of one type that share a natural key, as a store lists them.
public struct DuplicateGroup: Sendable {
  /// The natural key.
  public var key: String
  /// How many records have it.
  public var count: Int
  /// Where the first of them lies in the store, counted along it.
  ///
  /// Keys are in no order that a store would know of. Who changes many groups, one after the other in the order of their places, has the store go through
  /// its file once, where the order of keys would have it jump about.
  public var place: Int64

  /// Describes a group.
  public init(key: String, count: Int, place: Int64) {
    self.key = key
    self.count = count
    self.place = place
  }
}
