import SyncModels

/// Everything that is set aside: by key, counted by kind, and found by what it waits for.
struct Shelf: Sendable {
  private var entries: [RecordType: OrderedMap<Place, SetAside>] = [:]
  private var waiting = OrderedMap<Waiting, Void>()
  private var counts: [RecordType: [SetAside.Kind: Int]] = [:]

  /// The order of keys: entries of records by their ids, then those of bytes by digest.
  struct Place: Comparable, Sendable {
    let key: SetAside.Key

    init(_ key: SetAside.Key) {
      self.key = key
    }

    static func < (a: Place, b: Place) -> Bool {
      switch (a.key, b.key) {
      case (.record(let a), .record(let b)): a < b
      case (.record, .bytes): true
      case (.bytes, .record): false
      case (.bytes(let aType, let a), .bytes(let bType, let b)): aType == bType ? a < b : aType < bType
      }
    }
  }

  private struct Waiting: Comparable, Sendable {
    var target: RecordID
    var place: Place?

    static func < (a: Waiting, b: Waiting) -> Bool {
      if a.target != b.target { return a.target < b.target }
      guard let place = b.place else { return false }
      return a.place.map { $0 < place } ?? true
    }
  }

  subscript(key: SetAside.Key) -> SetAside? {
    get { entries[key.type]?[Place(key)] }
    set {
      if let old = self[key] { forget(old) }
      entries[key.type, default: OrderedMap()][Place(key)] = newValue
      guard let newValue else { return }
      counts[key.type, default: [:]][newValue.kind, default: 0] += 1
      for target in newValue.waitsFor where newValue.kind == .parked {
        waiting[Waiting(target: target, place: Place(key))] = ()
      }
    }
  }

  private mutating func forget(_ entry: SetAside) {
    counts[entry.key.type, default: [:]][entry.kind, default: 0] -= 1
    for target in entry.waitsFor {
      waiting[Waiting(target: target, place: Place(entry.key))] = nil
    }
  }

  func entries(
    _ type: RecordType, kinds: Set<SetAside.Kind>, after: SetAside.Key?, limit: Int
  ) -> [SetAside] {
    guard limit > 0, let entries = entries[type] else { return [] }
    return Array(
      entries.entries(after: after.map(Place.init)).lazy.map(\.value).filter { kinds.contains($0.kind) }
        .prefix(limit))
  }

  func counts(_ type: RecordType) -> [SetAside.Kind: Int] {
    (counts[type] ?? [:]).filter { $0.value > 0 }
  }

  /// The parked entries that wait for one of some records, in the order of their keys.
  func parked(waitingFor ids: [RecordID], limit: Int) -> [SetAside] {
    var places: [Place] = []
    for id in ids {
      for (entry, _) in waiting.entries(from: Waiting(target: id, place: nil)) {
        guard entry.target == id, let place = entry.place else { break }
        places.append(place)
      }
    }
    var found: [SetAside] = []
    var last: Place?
    for place in places.sorted() where found.count < limit && place != last {
      last = place
      if let entry = self[place.key] { found.append(entry) }
    }
    return found
  }
}
