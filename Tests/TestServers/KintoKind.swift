import CanonicalSyncListening
import CanonicalSyncTestPostgres
import Foundation
import PostgresAdapters
import SQLiteAdapters
import SyncModels
import SyncPorts
import SyncServing

/// The servers of Kinto's API that suites are run against: Kinto itself, and services of this package.
package enum KintoKind: String, CaseIterable, Sendable {
  /// Kinto with its records in memory, or in PostgreSQL.
  case kinto, kintoWithPostgreSQL
  /// A service over a store of this package.
  case serviceOverSQLite, serviceOverPostgreSQL

  /// Those that are there; `Tests/run --all` starts all but the service over SQLite.
  package static let present = allCases.filter(\.isPresent)
  /// Those that are there, each with seeds: fewer for services than for Kinto, of which the one with
  /// PostgreSQL takes long.
  package static let trials = present.flatMap { kind in
    let seeds = kind == .kintoWithPostgreSQL ? 1 : kind.isService && !Seeds.isSoak ? 2 : Seeds.all.count
    return Seeds.all.prefix(seeds).map { Trial(kind: kind, seed: $0) }
  }

  /// A server and a seed.
  package struct Trial: Sendable, CustomStringConvertible {
    package var kind: KintoKind
    package var seed: UInt64
    package var description: String { "\(kind.rawValue), seed \(seed)" }
  }

  /// Whether it is a service of this package.
  package var isService: Bool { self == .serviceOverSQLite || self == .serviceOverPostgreSQL }

  private var isPresent: Bool {
    switch self {
    case .kinto: return RealKinto.address != nil
    case .kintoWithPostgreSQL: return RealKinto.postgresAddress != nil
    case .serviceOverSQLite:
      #if SQLite
        return TestTransport.isPresent
      #else
        return false
      #endif
    case .serviceOverPostgreSQL:
      #if Postgres
        return TestTransport.isPresent && CanonicalSyncTestPostgres.Database.isThere
      #else
        return false
      #endif
    }
  }

  /// Runs a body with a bucket of empty collections.
  package func with(_ collections: [String], _ body: (RealKinto) async throws -> Void) async throws {
    switch self {
    case .kinto: try await body(RealKinto(collections, at: RealKinto.address))
    case .kintoWithPostgreSQL: try await body(RealKinto(collections, at: RealKinto.postgresAddress))
    case .serviceOverSQLite:
      #if SQLite
        let folder = FileManager.default.temporaryDirectory.appending(path: "served-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let store = try await SQLiteStore.open(path: folder.appending(path: "store.sqlite").path)
        let result = await Self.serve(store, collections, body)
        await store.close()
        try result.get()
      #else
        throw CocoaError(.featureUnsupported)
      #endif
    case .serviceOverPostgreSQL:
      #if Postgres
        try await CanonicalSyncTestPostgres.Database.withSchema { name in
          let store = try await CanonicalSyncTestPostgres.Database.open(name)
          let result = await Self.serve(store, collections, body)
          await store.close()
          try result.get()
        }
      #else
        throw CocoaError(.featureUnsupported)
      #endif
    }
  }

  private static func serve(
    _ store: any LocalStore, _ collections: [String], _ body: (RealKinto) async throws -> Void
  ) async -> Result<Void, any Error> {
    do {
      var options = KintoService.Options()
      options.allowsNewCollections = true
      let service = try await KintoService(
        store, schema: SyncSchema([Entity]()), bucket: "b", mode: .origin, options: options)
      let listener = try ServiceListener { await service.respond(to: $0) }
      defer { listener.stop(within: 1) }
      let server = "http://127.0.0.1:\(listener.port)/v1"
      return .success(try await body(RealKinto(collections, at: server, bucket: "b")))
    } catch {
      return .failure(error)
    }
  }
}
