/// What is known of one sort of thing, while a new list of them may be coming in.
///
/// Until the new list is complete the old one counts, kept up to date; then what was not on the new list goes.
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
