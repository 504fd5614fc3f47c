#if SQLite && Curl && Postgres
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import CanonicalSyncTestServers
  import Foundation
  import HTTPAdapters
  import InMemoryAdapters
  import KintoAdapters
  import SyncAdapters
  import SyncJSON
  import Synchronization
  import Testing

  /// Three processes of `sync-serve` on one database, behind a proxy.
  @Suite(
    "Three sync-serve on one PostgreSQL, of which one is killed,",
    .enabled(if: Database.isThere, "Tests/run --all starts the database."), .timeLimit(.minutes(10)))
  struct KilledServerTests {
    private static let collection = "/buckets/b/collections/notes"

    private struct Note: SyncedRecord, Encodable {
      static let recordType: RecordType = "notes"
      var text: String
    }

    /// A client with an engine, which edits records of its own and pulls all.
    private struct Client: Sendable {
      let number: Int
      let store = InMemoryStore()
      let engine: SyncEngine

      init(_ number: Int, _ server: String) async throws {
        self.number = number
        var options = KintoSource.Options()
        options.allowsPlainHTTP = true
        let source = try KintoSource(
          server: server, bucket: "b", options: options, transport: TestTransport.make())
        engine = try await SyncEngine(
          schema: SyncSchema(Entity("notes")), store: store, source: source, sink: KintoSink(source),
          options: SyncOptions(
            retry: RetryPolicy(attempts: 6, base: .milliseconds(10), cap: .milliseconds(200))))
      }

      /// The last text of each of its records.
      func edit() async throws -> [String: String] {
        var texts: [String: String] = [:]
        for round in 0..<24 {
          for place in 0..<3 {
            let (key, text) = ("c\(number)-\((round + place) % 7)", "\(number)/\(round)/\(place)")
            try await engine.edits.upsert(Note(text: text), key: key)
            texts[key] = text
          }
          // What fails goes with the next sync.
          _ = try? await engine.sync()
        }
        while true {
          _ = try? await engine.sync()
          if try await engine.edits.pending("notes").isEmpty { return texts }
        }
      }
    }

    /// A client that asks for deltas, and writes down what it gets.
    private struct Follower: Sendable {
      let address: String
      let transport = TestTransport.make()
      var since: String?
      var seen: Set<String> = []

      init(_ address: String) { self.address = address }

      /// Asks once; an answer that fails is asked for again.
      mutating func ask() async throws {
        let query = since.map { "?_since=\($0)&_sort=last_modified" } ?? "?_sort=last_modified"
        let request = HTTPRequest("GET", try #require(HTTPAddress(address + query)))
        guard let response = try? await transport.send(request), response.status == 200 else { return }
        for text in try texts(of: response) {
          #expect(seen.insert(text).inserted, "\(text) was seen twice.")
        }
        since = response.headers["ETag"]?.filter(\.isNumber)
      }

      func texts(of response: HTTPResponse) throws -> [String] {
        let body = try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any]
        return try (body?["data"] as? [[String: Any]] ?? []).map { try #require($0["text"] as? String) }
      }
    }

    /// The number of clients that still edit.
    private final class Rest: Sendable {
      private let count: Mutex<Int>

      init(_ count: Int) { self.count = Mutex(count) }

      var isOver: Bool { count.withLock { $0 == 0 } }
      func end() { count.withLock { $0 -= 1 } }
    }

    @Test func loseNoChangeAndShowNoneTwice() async throws {
      try await Database.withSchema { schema in
        var tools: [RunningTool] = []
        defer { for tool in tools { tool.send(SIGKILL) } }
        var ports: [Int] = []
        for _ in 0..<3 {
          let tool = try Tool(name: "sync-serve").start([
            "--store", "\(Database.address)?schema=\(schema)", "--bucket", "b", "--listen", "127.0.0.1:0",
            "--origin",
          ])
          tools.append(tool)
          #expect(await tool.waitForOutput { $0.contains("\n") }, "\(tool.errorsSoFar)")
          ports.append(
            try #require(Int(tool.outputSoFar.split(separator: ":").last?.prefix { $0.isNumber } ?? "")))
        }
        let killed = tools[1]
        try await CutProxy.with(ports[0], ports[1], ports[2]) { proxy in
          let server = "http://127.0.0.1:\(proxy.port)/v1"
          let declared = try await TestTransport.make().send(
            HTTPRequest("PUT", try #require(HTTPAddress(server + Self.collection))))
          #expect(declared.status == 201)
          var clients: [Client] = []
          for number in 0..<3 { clients.append(try await Client(number, server)) }
          let editing = clients
          let rest = Rest(clients.count)
          var follower = Follower(server + Self.collection + "/records")
          var texts: [String: String] = [:]
          try await withThrowingTaskGroup(of: [String: String].self) { group in
            for client in editing {
              group.addTask {
                defer { rest.end() }
                return try await client.edit()
              }
            }
            while !rest.isOver {
              try await follower.ask()
              if follower.seen.count > 40 { killed.send(SIGKILL) }
            }
            for try await part in group { texts.merge(part) { $1 } }
          }
          try await follower.ask()
          #expect(!killed.isRunning && tools[0].isRunning && tools[2].isRunning)
          #expect(follower.seen.isSuperset(of: texts.values), "A change was missed.")
          for client in clients {
            #expect(try await client.engine.sync().failures.isEmpty)
            var mirrored: [String: String] = [:]
            for note in client.store.records(of: "notes") {
              let members = try JSONSerialization.jsonObject(with: Data(note.payload.bytes)) as? [String: Any]
              mirrored[note.id.key] = members?["text"] as? String
            }
            #expect(mirrored == texts)
          }
        }
      }
    }
  }
#endif
