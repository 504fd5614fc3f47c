import SyncModels
import SyncPorts

/// A store to salvage, and what a walk of a source has read.
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

  /// A walk with more portions counts as endless.
  private static let limit = 4 * StoreContents.count

  /// Runs a body with the store, then closes it.
  func withStore<R>(_ body: (any LocalStore) async throws -> R) async throws -> R {
    let store = try await harness.open()
    do {
      let result = try await body(store)
      try await harness.close(store)
      return result
    } catch {
      // The body's error tells more than one of closing.
      try? await harness.close(store)
      throw error
    }
  }

  /// Writes entries of every kind into the store, and returns them.
  func fill() async throws -> StoreContents {
    try await withStore { store in
      try await StoreContents.fill(store)
      return try await StoreContents(of: store)
    }
  }

  func withSource<R>(_ body: (any SalvageSource) async throws -> R) async throws -> R {
    let source = try await harness.makeSource()
    do {
      let result = try await body(source)
      await harness.closeSource?(source)
      return result
    } catch {
      await harness.closeSource?(source)
      throw error
    }
  }

  /// Walks over every part of the store, by a new source.
  func walk() async throws -> Reading { try await withSource { try await walk($0) } }

  func walk(_ source: any SalvageSource) async throws -> Reading {
    var reading = Reading()
    for part in Self.parts {
      var place: SalvagePlace?
      repeat {
        let portion = try await source.portion(of: part, after: place)
        reading.entries[part, default: []] += portion.entries.map(\.essence)
        reading.losses += portion.losses
        if let place, let next = portion.next {
          try expect(
            place.isBefore(next), "Places ascend, of \(part.name). \(next) followed \(place).")
        }
        place = portion.next
        if let place { reading.places[part, default: []].append(place) }
        try expect(reading.places[part, default: []].count < Self.limit, "A walk ends, of \(part.name).")
      } while place != nil
    }
    return reading
  }
}

extension SalvagePart {
  var name: String {
    switch self {
    case .declarations: "the declarations"
    case .outbox: "the outbox"
    case .conflicts: "the conflicts"
    case .values: "the values"
    case .records(let entity): "the records of \(entity.type.rawValue)"
    }
  }

  /// The name of the part in losses.
  var lossPart: SalvageLoss.Part {
    switch self {
    case .declarations: .declarations
    case .outbox: .outbox
    case .conflicts: .conflicts
    case .values: .values
    case .records: .records
    }
  }
}

extension SalvagePlace {
  /// Whether a later place may follow this one.
  ///
  /// Only numbers, and stamps of one type, have an order.
  fileprivate func isBefore(_ other: SalvagePlace) -> Bool {
    switch (self, other) {
    case (.row(let number), .row(let next)): number < next
    case (.stamp(let type, let stamp), .stamp(let later, let next)) where type == later: stamp < next
    default: self != other
    }
  }
}
