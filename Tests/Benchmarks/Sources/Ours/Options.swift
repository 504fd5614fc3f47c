import CRecords
import CanonicalSync
import PostgresAdapters
import SQLiteAdapters
import SyncAdapters

/// The options of a run.
struct Options {
  var workload = ""
  var path = ""
  var recipe = record_recipe(count: 100_000, has_random_ids: 0)
  var generation: Int64 = 0
  /// The number of deltas before the measured one, in the same process.
  var earlier: Int64 = 0
  var page = 400
  /// Whether pages are made on request.
  ///
  /// The memory is then the engine's and the store's alone.
  var isLazy = false
  /// The latency of the remote for a page.
  var latency = Duration.zero
  /// The number of tasks that read, and of connections for them; 0 for six and three.
  var readers = 0
  /// The number of independent record types.
  var types = 1
  /// Whether everything runs on one thread, for counting instructions.
  var isInline = false

  struct Usage: Error {
    var message: String
  }

  init(_ arguments: [String]) throws {
    guard arguments.count >= 2 else {
      throw Usage(
        message: """
          usage: Ours WORKLOAD PATH [--records N] [--random] [--generation N] [--page N] [--lazy] [--inline] \
          [--earlier N] [--latency MILLISECONDS] [--types N] [--readers N]
          """)
    }
    workload = arguments[0]
    path = arguments[1]
    var rest = arguments.dropFirst(2)
    while let name = rest.popFirst() {
      switch name {
      case "--random": recipe.has_random_ids = 1
      case "--lazy": isLazy = true
      case "--inline": isInline = true
      case "--records": recipe.count = try Self.number(rest.popFirst(), of: name)
      case "--generation": generation = try Self.number(rest.popFirst(), of: name)
      case "--earlier": earlier = try Self.number(rest.popFirst(), of: name)
      case "--latency": latency = .milliseconds(try Self.number(rest.popFirst(), of: name))
      case "--types": types = min(10, Int(try Self.number(rest.popFirst(), of: name)))
      case "--readers": readers = Int(try Self.number(rest.popFirst(), of: name))
      case "--page": page = Int(try Self.number(rest.popFirst(), of: name))
      default: throw Usage(message: "unknown option \(name)")
      }
    }
  }

  private static func number(_ text: String?, of name: String) throws -> Int64 {
    guard let text, let number = Int64(text), number > 0 else {
      throw Usage(message: "\(name) needs a number above 0")
    }
    return number
  }

  /// The number of changes that the remote lists.
  var changes: Int {
    workload == "W3" ? Int(recipe.count / 100) : Int(recipe.count)
  }

  var configuration: SQLiteStore.Configuration {
    SQLiteStore.Configuration(executor: isInline ? .inline : .dispatch)
  }

  /// Opens the file, or the schema of a database at `postgres://…?schema=NAME`.
  func openStore() async throws -> (store: any LocalStore, close: @Sendable () async -> Void) {
    if path.hasPrefix("postgres://") {
      var configuration = PostgresStore.Configuration()
      if readers > 0 { configuration.readerCount = readers }
      let store = try await PostgresStore.open(try PostgresAddress(path), configuration: configuration)
      return (store, { await store.close() })
    }
    let store = try await SQLiteStore.open(path: path, configuration: configuration)
    return (store, { await store.close() })
  }
}
