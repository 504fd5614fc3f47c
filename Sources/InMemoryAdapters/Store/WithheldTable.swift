import SyncModels

/// All withheld changes: by key, by kind, by dependency and by reference.
///
/// Dependencies are the records that an entry waits for. References are those of its copy.
struct WithheldTable: Sendable {
  private var entries: [RecordType: OrderedMap<Place, Filed>] = [:]
  private var waiting = OrderedMap<Waiting, Void>()
  private var referring = OrderedMap<Waiting, Void>()
  private var counts: [RecordType: [WithheldChange.Kind: Int]] = [:]

  /// The order of keys: entries of records by id, then entries of bytes by digest.
  struct Place: Comparable, Sendable {
    let key: WithheldChange.Key

    init(_ key: WithheldChange.Key) {
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

  /// An entry, and the references of its copy.
  private struct Filed {
    var entry: WithheldChange
    var references: [RecordID]
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

  subscript(key: WithheldChange.Key) -> WithheldChange? {
    entries[key.type]?[Place(key)]?.entry
  }

  /// Stores an entry in place of the one with its key.
  ///
  /// - Parameter entity: The declaration that defines the copy's references, if there is one.
  mutating func file(_ entry: WithheldChange, _ entity: Entity?) {
    remove(entry.key)
    let place = Place(entry.key)
    let references = entity.map { entry.references(by: $0) } ?? []
    entries[entry.key.type, default: OrderedMap()][place] = Filed(entry: entry, references: references)
    counts[entry.key.type, default: [:]][entry.kind, default: 0] += 1
    for target in entry.waitsFor where entry.kind == .parked {
      waiting[Waiting(target: target, place: place)] = ()
    }
    for target in references { referring[Waiting(target: target, place: place)] = () }
  }

  mutating func remove(_ key: WithheldChange.Key) {
    let place = Place(key)
    guard let filed = entries[key.type]?[place] else { return }
    entries[key.type, default: OrderedMap()][place] = nil
    counts[key.type, default: [:]][filed.entry.kind, default: 0] -= 1
    for target in filed.entry.waitsFor { waiting[Waiting(target: target, place: place)] = nil }
    for target in filed.references { referring[Waiting(target: target, place: place)] = nil }
  }

  /// Stores the entries of a type again, under a changed declaration.
  mutating func refile(_ entity: Entity) {
    guard let all = entries[entity.type] else { return }
    for (_, filed) in all.entries(after: nil) { file(filed.entry, entity) }
  }

  func entries(
    _ type: RecordType, kinds: Set<WithheldChange.Kind>, after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    guard limit > 0, let entries = entries[type] else { return [] }
    return Array(
      entries.entries(after: after.map(Place.init)).lazy.map(\.value.entry).filter { kinds.contains($0.kind) }
        .prefix(limit))
  }

  func counts(_ type: RecordType) -> [WithheldChange.Kind: Int] {
    (counts[type] ?? [:]).filter { $0.value > 0 }
  }

  /// The entries related to any of the given records, in key order.
  func entries(
    _ relation: WithheldChange.Relation, _ ids: [RecordID], kinds: Set<WithheldChange.Kind>,
    after: WithheldChange.Key?, limit: Int
  ) -> [WithheldChange] {
    let after = after.map(Place.init)
    let places = places(of: ids, in: relation == .waitingFor ? waiting : referring)
      .filter { place in after.map { $0 < place } ?? true }
    return Array(distinct(places).filter { kinds.contains($0.kind) }.prefix(max(0, limit)))
  }

  private func places(of ids: [RecordID], in index: OrderedMap<Waiting, Void>) -> [Place] {
    var places: [Place] = []
    for id in ids {
      for (entry, _) in index.entries(from: Waiting(target: id, place: nil)) {
        guard entry.target == id, let place = entry.place else { break }
        places.append(place)
      }
    }
    return places
  }

  /// The entries at some places, each once, in the order of the places.
  private func distinct(_ places: [Place]) -> some Sequence<WithheldChange> {
    var last: Place?
    return places.sorted().filter { place in
      defer { last = place }
      return place != last
    }.lazy.compactMap { self[$0.key] }
  }
}

extension WithheldChange {
  /// The references of the entry's copy. Those of staged copies are not needed.
  fileprivate func references(by entity: Entity) -> [RecordID] {
    guard kind != .staged, case .upsert(let record) = change else { return [] }
    return entity.allReferences(of: record.withFields(of: entity))
  }
}
