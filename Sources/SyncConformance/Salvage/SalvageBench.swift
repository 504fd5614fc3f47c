import SyncModels
import SyncPorts

/// A store to salvage, and what a walk of its source has read.
struct SalvageBench: Sendable {
  let harness: SalvageHarness

  /// What a walk over every part has read.
  struct Reading: Sendable {
    var entries: [SalvagePart: [SalvagedEntry]] = [:]
    var losses: [SalvageLoss] = []
    /// The places of each part, in their order.
    var places: [SalvagePart: [SalvagePlace]] = [:]
  }

  /// The parts of a store of the bench's types.
  static let parts: [SalvagePart] =
    [.declarations, .outbox, .conflicts, .values]
    + [StoreBench.teams, StoreBench.venues, StoreBench.games].map { .records($0) }

  /// The records of each type, more than any portion has.
  static let count = 900
  /// A walk with more portions has no end.
  private static let limit = 4 * count

  /// Runs a body with the store, then closes it.
  func withStore<R>(_ body: (any LocalStore) async throws -> R) async throws -> R {
    let store = try await harness.open()
    do {
      let result = try await body(store)
      try await harness.close(store)
      return result
    } catch {
      try? await harness.close(store)
      throw error
    }
  }

  /// Fills every part of the store, and returns its entries.
  func fill() async throws -> [SalvagePart: Set<SalvagedEntry>] {
    try await withStore { store in
      try await store.register(try StoreBench.schema())
      let records = try (0..<Self.count).flatMap { number in
        [
          try StoreBench.copy("teams", "t\(number)", #"{"city":"\#(number % 7)"}"#),
          try StoreBench.copy("games", "g\(number)", #"{"code":"c\#(number)","home":"t\#(number)"}"#),
        ]
      }
      try await store.write(.app) { (transaction) throws(SyncError) in
        try transaction.put(records)
        for (type, number) in [("games", 3), ("teams", 5)] as [(RecordType, Int)] {
          for number in 0..<100 * number {
            let id = RecordID(type: type, key: "\(type.rawValue.prefix(1))\(number)")
            try transaction.queue([StoreBench.pending(id, at: StoreBench.stamp(Int64(1 + number)))])
          }
        }
        try transaction.delete([StoreBench.tombstone("games", "g7")])
        for number in 0..<Self.count {
          try transaction.setValue(Array("\(number)".utf8), forKey: "app/\(number)")
        }
        try transaction.log(
          (0..<Self.count).map { StoreBench.conflict(StoreBench.game("g\($0)"), settledAt: Int64($0)) })
      }
      return try await Self.contents(of: store)
    }
  }

  /// Returns the entries of a store as its port has them.
  static func contents(of store: any LocalStore) async throws -> [SalvagePart: Set<SalvagedEntry>] {
    try await store.read { (snapshot) throws(SyncError) in
      var contents: [SalvagePart: Set<SalvagedEntry>] = [:]
      let entities = try snapshot.registeredEntities()
      contents[.declarations] = Set(entities.map { .declaration($0) })
      contents[.conflicts] = Set(
        try snapshot.conflicts(nil, before: nil, limit: Self.limit).map { .conflict($0) })
      for key in try snapshot.keys(withPrefix: "", after: nil, limit: Self.limit) {
        guard let bytes = try snapshot.value(forKey: key) else { continue }
        contents[.values, default: []].insert(.value(key: key, bytes: bytes))
      }
      for entity in entities {
        let edits = try snapshot.outbox(entity.type, after: nil, limit: Self.limit)
        contents[.outbox, default: []].formUnion(edits.map { .edit($0) })
        contents[.records(entity)] = Set(try snapshot.records(Query(entity.type)).map { .record($0) })
      }
      return contents
    }
  }

  /// Walks over every part of the store.
  func walk(_ source: any SalvageSource) async throws -> Reading {
    var reading = Reading()
    for part in Self.parts {
      var place: SalvagePlace?
      repeat {
        let portion = try await source.portion(of: part, after: place)
        reading.entries[part, default: []] += portion.entries.map(\.essence)
        reading.losses += portion.losses
        place = portion.next
        if let place { reading.places[part, default: []].append(place) }
        try expect(reading.places[part, default: []].count < Self.limit, "A walk over a part ends.")
      } while place != nil
    }
    return reading
  }
}

extension SalvagedEntry {
  /// The entry as far as a salvage uses it.
  var essence: SalvagedEntry {
    guard case .record(var record) = self else { return self }
    (record.version, record.entityTag, record.fields) = (.unversioned, nil, [])
    return .record(record)
  }
}
