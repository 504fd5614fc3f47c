import SyncModels
import SyncPorts

/// The entries that a source reads, and the losses that it lists.
enum SalvageChecks {
  static func soundStoreComesWhole(_ bench: SalvageBench) async throws {
    let contents = try await bench.fill()
    let reading = try await bench.walk()
    try expect(reading.losses, equals: [], "A sound store has no losses.")
    for part in SalvageBench.parts {
      let (found, wanted) = (reading.entries[part] ?? [], contents.essence(of: part))
      try expect(
        found.count, equals: wanted.count, "Each entry of a sound store comes once, of \(part.name).")
      let others = Set(found).subtracting(wanted)
      try expect(
        others.isEmpty,
        "The entries of a sound store come as they are. \(others.count) of \(part.name) do not.")
    }
  }

  static func emptyStoreHasNoEntries(_ bench: SalvageBench) async throws {
    let contents = try await bench.withStore { store in
      try await store.register(try StoreBench.schema())
      return try await StoreContents(of: store)
    }
    let reading = try await bench.walk()
    try expect(reading.losses, equals: [], "An empty store has no losses.")
    for part in SalvageBench.parts {
      try expect(
        Set(reading.entries[part] ?? []) == contents.essence(of: part),
        "An empty store has its declarations alone, and no entries of \(part.name).")
    }
  }

  static func conflictsComeByTheirAge(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let reading = try await bench.walk()
    let times = reading.entries[.conflicts, default: []].compactMap { entry in
      if case .conflict(let conflict) = entry { conflict.settledAt } else { nil }
    }
    try expect(times.count, equals: StoreContents.count, "Each conflict comes.")
    try expect(times == times.sorted(), "The oldest conflicts come first.")
  }

  static func placesLeadToAnEnd(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let reading = try await bench.walk()
    for part in SalvageBench.parts {
      let places = reading.places[part] ?? []
      try expect(Set(places).count, equals: places.count, "No place comes twice in a walk, of \(part.name).")
    }
  }

  static func laterWalkReadsTheSame(_ bench: SalvageBench) async throws {
    _ = try await bench.fill()
    let (first, second) = try await bench.withSource { (try await bench.walk($0), try await bench.walk($0)) }
    try expectSame(first, second, "A later walk by the same source reads the same")
  }

  private static func expectSame(
    _ first: SalvageBench.Reading, _ second: SalvageBench.Reading, _ sentence: String
  ) throws {
    for part in SalvageBench.parts {
      let (one, other) = (first.entries[part] ?? [], second.entries[part] ?? [])
      try expect(one.count == other.count && Set(one) == Set(other), "\(sentence), of \(part.name).")
    }
  }

  static func storeStaysAsItIs(_ bench: SalvageBench) async throws {
    let before = try await bench.fill()
    _ = try await bench.walk()
    let after = try await bench.withStore { try await StoreContents(of: $0) }
    try expect(after == before, "A salvage changes nothing in the store.")
  }

  private static func damage(_ bench: SalvageBench) async throws -> StoreContents {
    guard let damage = bench.harness.damage else {
      throw Inapplicable(reason: "The harness cannot damage the store.")
    }
    let contents = try await bench.fill()
    try await damage()
    return contents
  }

  static func missingEntriesAreListed(_ bench: SalvageBench) async throws {
    let contents = try await damage(bench)
    let reading = try await bench.walk()
    var (missing, count) = (0, 0)
    for part in SalvageBench.parts {
      let (found, wanted) = (Set(reading.entries[part] ?? []), contents.essence(of: part))
      let lost = wanted.subtracting(found).count
      missing += lost
      count += found.intersection(wanted).count
      let isListed = reading.losses.contains { $0.part == part.lossPart || $0.part == .declarations }
      try expect(lost == 0 || isListed, "What cannot be read is listed. \(lost) of \(part.name) are not.")
    }
    if missing == 0, reading.losses.isEmpty {
      throw Inapplicable(reason: "The harness damages nothing that can be missed.")
    }
    try expect(count > 0, "What can be read of a damaged store comes.")
  }

  static func damagedStoreStaysAsItIs(_ bench: SalvageBench) async throws {
    _ = try await damage(bench)
    let (first, second) = (try await bench.walk(), try await bench.walk())
    try expectSame(first, second, "A salvage changes nothing in a damaged store")
  }

  static func lostStoreIsAnError(_ bench: SalvageBench) async throws {
    guard let destroy = bench.harness.destroy else {
      throw Inapplicable(reason: "The harness cannot destroy the store.")
    }
    _ = try await bench.fill()
    try await destroy()
    do {
      try await bench.withSource { _ = try await $0.portion(of: .declarations, after: nil) }
    } catch let error as SyncError {
      return try expect(
        error.code, equals: .storeUnreadable, "A store of which nothing can be read is an error.")
    }
    throw ConformanceFailure("A store of which nothing can be read is an error. No error was thrown.")
  }
}
