/// The known items of one kind, with a new list that may be under way.
///
/// Until the new list is complete, the old one counts and is kept up to date. Then the items that
/// the new list lacked are removed.
struct NetlinkTable<Key: Hashable, Value> {
  private(set) var known: [Key: Value] = [:]
  private var listed: [Key: Value]?

  mutating func beginListing() { listed = [:] }

  mutating func endListing() {
    if let listed { known = listed }
    listed = nil
  }

  mutating func set(_ key: Key, _ value: Value) {
    known[key] = value
    listed?[key] = value
  }

  mutating func remove(where condition: (Key) -> Bool) {
    known = known.filter { !condition($0.key) }
    listed = listed?.filter { !condition($0.key) }
  }

  mutating func remove(_ key: Key) {
    known[key] = nil
    listed?[key] = nil
  }
}
