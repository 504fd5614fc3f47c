import SyncModels
import SyncPorts

/// The entries that a source reads, and the losses that it lists.
enum SalvageChecks {
  static func soundStoreComesWhole(_ bench: SalvageBench) async throws {
    let contents = try await bench.fill()
    let reading = try await bench.walk(bench.harness.source())
    try expect(reading.losses, equals: [], "A sound store has no losses.")
    for part in SalvageBench.parts {
      let (found, wanted) = (reading.entries[part] ?? [], essence(of: contents, part))
      try expect(
        found.count, equals: wanted.count, "Each entry of a sound store comes once, of \(part.name).")
      try expect(Set(found) == wanted, "The entries of a sound store come as they are, of \(part.name).")
    }
  }

  /// The entries of a part, as far as a salvage uses them.
  private static func essence(
    of contents: [SalvagePart: Set<SalvagedEntry>], _ part: SalvagePart
  ) -> Set<SalvagedEntry> {
    Set((contents[part] ?? []).map(\.essence))
  }

  static func emptyStoreHasNoEntries(_ bench: SalvageBench) async throws {
    let contents = try await bench.withStore { store in
      try await store.register(try StoreBench.schema())
      return try await SalvageBench.contents(of: store)
    }
    let reading = try await bench.walk(bench.harness.source())
    try expect(reading.losses, equals: [], "An empty store has no losses.")
    for part in SalvageBench.parts {
      try expect(
        Set(reading.entries[part] ?? []) == essence(of: contents, part),
        "An empty store has its declarations alone, and no entries of \(part.name).")
    }
  }

  static func conflictsComeByTheirAge(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let reading = try await bench.walk(bench.harness.source())
    let numbers = reading.entries[.conflicts, default: []].compactMap { entry in
      if case .conflict(let conflict) = entry { conflict.number } else { nil }
    }
    try expect(numbers.count, equals: SalvageBench.count, "Each conflict comes.")
    try expect(numbers == numbers.sorted(), "The oldest conflicts come first.")
  }

  static func placesLeadToAnEnd(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let reading = try await bench.walk(bench.harness.source())
    for part in SalvageBench.parts {
      let places = reading.places[part] ?? []
      try expect(Set(places).count, equals: places.count, "No place comes twice in a walk, of \(part.name).")
      for (place, next) in zip(places, places.dropFirst()) {
        try expect(place.isBefore(next), "Places ascend, of \(part.name). \(next) followed \(place).")
      }
    }
  }

  static func laterWalkReadsTheSame(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let source = try await bench.harness.source()
    let (first, second) = (try await bench.walk(source), try await bench.walk(source))
    for part in SalvageBench.parts {
      try expect(
        first.entries[part] == second.entries[part],
        "A later walk by the same source reads the same, of \(part.name).")
    }
  }

  static func storeStaysAsItIs(_ bench: SalvageBench) async throws {
    let before = try await bench.fill()
    _ = try await bench.walk(bench.harness.source())
    let after = try await bench.withStore { try await SalvageBench.contents(of: $0) }
    try expect(after == before, "A salvage changes nothing in the store.")
  }

  static func whatIsMissingIsListed(_ bench: SalvageBench) async throws {
    guard let damage = bench.harness.damage else {
      throw Inapplicable(reason: "The harness cannot damage the store.")
    }
    let contents = try await bench.fill()
    try await damage()
    let reading = try await bench.walk(bench.harness.source())
    var (missing, count) = (0, 0)
    for part in SalvageBench.parts {
      let (found, wanted) = (Set(reading.entries[part] ?? []), essence(of: contents, part))
      missing += wanted.subtracting(found).count
      count += found.intersection(wanted).count
    }
    try expect(count > 0, "What can be read of a damaged store comes.")
    try expect(
      missing == 0 || !reading.losses.isEmpty,
      "What cannot be read is listed. \(missing) entries are missing, and no loss is listed.")
  }

  static func lostStoreIsTold(_ bench: SalvageBench) async throws {
    guard let destroy = bench.harness.destroy else {
      throw Inapplicable(reason: "The harness cannot destroy the store.")
    }
    _ = try await bench.fill()
    try await destroy()
    let source = try await bench.harness.source()
    try await expect(.storeUnreadable, "A store of which nothing can be read is no empty one.") {
      () throws(SyncError) in _ = try await source.portion(of: .declarations, after: nil)
    }
  }
}

extension SalvagePart {
  fileprivate var name: String {
    switch self {
    case .declarations: "the declarations"
    case .outbox: "the outbox"
    case .conflicts: "the conflicts"
    case .values: "the values"
    case .records(let entity): "the records of \(entity.type.rawValue)"
    }
  }
}

extension SalvagePlace {
  /// Whether a later place may follow this one. Places of different kinds have no order.
  fileprivate func isBefore(_ other: SalvagePlace) -> Bool {
    switch (self, other) {
    case (.row(let number), .row(let next)): number < next
    case (.stamp(let type, let stamp), .stamp(let later, let next)): (type, stamp) < (later, next)
    case (.key(let type, _), .key(let later, _)): type <= later
    default: true
    }
  }
}
