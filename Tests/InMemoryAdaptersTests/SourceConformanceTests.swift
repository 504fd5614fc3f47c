import InMemoryAdapters
import SyncConformance
import SyncModels
import Synchronization
import Testing

@Suite("The remote in memory", .timeLimit(.minutes(10)))
struct SourceConformanceTests {
  @Test(arguments: RemoteKind.allCases, SourceCheck.allCases)
  func keepsThePromisesOfASource(_ kind: RemoteKind, _ check: SourceCheck) async throws {
    let outcome = try await check.run(on: World(kind.configuration).harness())
    guard case .skipped(let reason) = outcome else { return }
    #expect(kind.inapplicable.contains(check), "\(reason)")
    try Test.cancel("\(reason)")
  }

  @Test(arguments: SourceCheck.allCases)
  func keepsThemIfItsListingsAreOfKeysAlone(_ check: SourceCheck) async throws {
    let world = World(RemoteKind.movingPrivateZone.configuration)
    var harness = world.harness()
    harness.source = KeyListing(base: world.remote)
    harness.reopen = { KeyListing(base: world.again().remote) }
    #expect(try await check.run(on: harness) == .kept)
  }
}

/// The kinds of remotes to check.
enum RemoteKind: String, CaseIterable, Sendable {
  case privateZone, movingPrivateZone, publicDatabase, sweptDatabase, timestampedCollection, coarseClock,
    fullOnly, movingFullOnly

  private static let lookups: Set<SourceCheck> = [
    .lookupGivesCurrentCopies, .lookupOfManyFindsEach, .lookupTakesAnyKey,
  ]
  private static let tombstones: Set<SourceCheck> = [.deletionComesAsTombstone, .deletionsHaveRisingVersions]

  /// The checks that do not apply to this kind, as it declares. No other check may be skipped.
  var inapplicable: Set<SourceCheck> {
    let keys: Set<SourceCheck> = self == .sweptDatabase ? [] : [.keysAreListedWithTheirVersions]
    return switch self {
    case .privateZone, .timestampedCollection, .coarseClock: keys.union(Self.lookups)
    case .movingPrivateZone: keys
    case .publicDatabase, .sweptDatabase:
      keys.union(Self.tombstones).union([.resumablePassGoesOnInAnotherProcess, .totalCountsTheListing])
        .union(self == .sweptDatabase ? [.deltaOfNothingIsEmpty] : [])
    case .fullOnly: keys.union(Self.lookups).union(Self.tombstones)
    case .movingFullOnly: keys.union(Self.lookups).union(Self.tombstones).union([.versionsRise])
    }
  }

  var configuration: InMemoryRemote.Configuration {
    var configuration: InMemoryRemote.Configuration
    switch self {
    case .privateZone: configuration = .privateZone
    case .movingPrivateZone:
      configuration = .privateZone
      configuration.listing = .moving
      configuration.supportsLookup = true
    case .publicDatabase:
      configuration = .publicDatabase()
      configuration.supportsLookup = true
    // Each delta lists all keys.
    case .sweptDatabase: configuration = .sweptDatabase(every: .zero)
    case .timestampedCollection: configuration = .timestampedCollection()
    case .coarseClock:
      configuration = .timestampedCollection(overlap: .seconds(10))
      configuration.timeGranularity = .seconds(3)
      configuration.listing = .snapshot
      configuration.maximumPageSize = 3
    case .fullOnly: configuration = .fullOnly
    case .movingFullOnly:
      configuration = .fullOnly
      configuration.listing = .moving
      configuration.versions = .latestFetched
    }
    return configuration
  }
}

/// A remote, its clock, and the changes made to it.
final class World: Sendable {
  let clock = ManualClock()
  let remote: InMemoryRemote
  private let journal = Mutex<[@Sendable (World) -> Void]>([])

  init(_ configuration: InMemoryRemote.Configuration) {
    remote = InMemoryRemote(configuration: configuration, clock: clock)
  }

  func act(_ deed: @escaping @Sendable (World) -> Void) {
    journal.withLock { $0.append(deed) }
    deed(self)
  }

  /// Another world with the same changes, as another process creates it from the same data.
  func again() -> World {
    let world = World(remote.configuration)
    for deed in journal.withLock({ $0 }) { deed(world) }
    return world
  }

  func harness() -> SourceHarness {
    let type = SourceHarness.entity.type
    var harness = SourceHarness(
      source: remote,
      upsert: { key, value in
        self.act { world in
          world.clock.advance(by: .milliseconds(1))
          world.remote.upsert(type, key, #"{"value":\#(value)}"#)
        }
      },
      delete: { key in
        self.act { world in
          world.clock.advance(by: .milliseconds(1))
          world.remote.delete(type, key)
        }
      })
    harness.reopen = { self.again().remote }
    harness.settle = { self.act { $0.clock.advance(by: .seconds(60)) } }
    let count = Mutex(0)
    harness.putMalformed = { bytes in
      let number = count.withLock { count in
        count += 1
        return count
      }
      self.act { $0.remote.upsert(type, "malformed\(number)", bytes) }
    }
    harness.voidTokens = { self.act { $0.remote.expireTokens() } }
    harness.beginUpsert = { key, value in
      let change = self.remote.prepareUpsert(type, key, #"{"value":\#(value)}"#)
      self.clock.advance(by: .seconds(1))
      return { change.commit() }
    }
    return harness
  }
}
