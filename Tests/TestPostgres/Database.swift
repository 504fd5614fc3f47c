#if Postgres
  import CanonicalSyncTestProcesses
  import Foundation
  package import PostgresAdapters
  package import SyncModels
  import Synchronization

  /// The database that `Tests/run` starts, with its address in an environment variable.
  package enum Database {
    package static let address = ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"] ?? ""

    package static var isThere: Bool { !address.isEmpty }

    /// The port in an address of a database on this machine.
    package static func port(in address: String = Database.address) -> Int {
      address.firstMatch(of: #/:(\d+)\//#).flatMap { Int($0.1) } ?? 0
    }

    /// Opens the store in a schema.
    package static func open(
      _ schema: String, _ configuration: PostgresStore.Configuration = .init()
    ) async throws(SyncError) -> PostgresStore {
      try await PostgresStore.open(
        try PostgresAddress("\(address)?schema=\(schema)"), configuration: configuration)
    }

    /// Calls a body with the names of new schemas, and drops them afterwards.
    package static func withSchemas<R>(_ count: Int, _ body: ([String]) async throws -> R) async throws -> R {
      let names = (0..<count).map { _ in "t_\(UUID().uuidString.lowercased().replacing("-", with: ""))" }
      do {
        let result = try await body(names)
        try drop(names)
        return result
      } catch {
        try drop(names)
        throw error
      }
    }

    package static func withSchema<R>(_ body: (String) async throws -> R) async throws -> R {
      try await withSchemas(1) { try await body($0[0]) }
    }

    private static func drop(_ names: [String]) throws {
      for name in names { try run("DROP SCHEMA IF EXISTS \"\(name)\" CASCADE") }
    }

    /// Runs SQL as another client would, and returns what `psql` prints.
    @discardableResult
    package static func run(_ sql: String) throws -> String {
      let (status, output) = try ChildProcess.run(
        ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", address, "-c", sql], withErrors: true)
      let text = String(decoding: output, as: UTF8.self)
      guard status == 0 else { throw SyncError(.storeFailure, during: "running psql", text) }
      return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
  }

  /// The opened stores of a test.
  package final class Handles: Sendable {
    private let stores = Mutex<[PostgresStore]>([])

    /// Creates an empty list.
    package init() {}

    package func keep(_ store: PostgresStore) -> PostgresStore {
      stores.withLock { $0.append(store) }
      return store
    }

    package func closeAll() async {
      for store in stores.withLock({ $0 }) { await store.close() }
    }
  }

  /// Names that are given out one after another.
  package final class FreeNames: Sendable {
    private let names: Mutex<[String]>

    /// Creates the list.
    package init(_ names: [String]) { self.names = Mutex(names) }

    package func next() -> String { names.withLock { $0.popLast() ?? "none" } }
  }
#endif
