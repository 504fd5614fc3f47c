#if Postgres
  import CanonicalSyncTestProcesses
  import CanonicalSync
  import CanonicalSyncTestPostgres
  import Foundation
  import InMemoryAdapters
  import PostgresAdapters
  import Testing

  /// A small file system in memory, as a table space of the database.
  private struct SmallDisk {
    let name: String
    let path: String

    /// Whether this process may mount file systems, and the server's user is another one.
    static let isPossible: Bool = {
      guard let path = try? temporaryDirectory() else { return false }
      defer { try? FileManager.default.removeItem(atPath: path) }
      guard (try? run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path)) != nil else { return false }
      return (try? run("umount", path)) != nil
    }()

    init(megabytes: Int) throws {
      name = "small_\(UUID().uuidString.prefix(8).lowercased())"
      path = try Self.temporaryDirectory()
      try Self.run("mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path)
      try Self.run("chown", "postgres", path)
      try Database.run("CREATE TABLESPACE \(name) LOCATION '\(path)'")
      // A role whose tables are there.
      try Database.run("CREATE ROLE \(name) SUPERUSER LOGIN")
      try Database.run("ALTER ROLE \(name) SET default_tablespace = \(name)")
    }

    func resize(megabytes: Int) throws {
      try Self.run("mount", "-o", "remount,size=\(megabytes)m", path)
    }

    func remove() throws {
      try Database.run("DROP ROLE \(name)")
      try Database.run("DROP TABLESPACE \(name)")
      try Self.run("umount", path)
      try FileManager.default.removeItem(atPath: path)
    }

    private static func temporaryDirectory() throws -> String {
      let path = "/tmp/canonicalsync-disk.\(UUID().uuidString)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      return path
    }

    private static func run(_ words: String...) throws {
      let process = try ChildProcess(words)
      guard process.waitUntilExit().status == 0 else {
        throw SyncError(.storeFailure, during: "running \(words[0])")
      }
    }
  }

  @Suite(
    "A full disk",
    .enabled(if: Database.isThere && SmallDisk.isPossible, "this process may not mount file systems"),
    .timeLimit(.minutes(10)))
  struct FullDiskTests {
    @Test func endsASyncWithAClearErrorAndTheNextOneGoesOn() async throws {
      let disk = try SmallDisk(megabytes: 8)
      defer { try? disk.remove() }
      try await Database.withSchema { schema in
        let address = Database.address.replacing("postgres@", with: "\(disk.name)@")
        let store = try await PostgresStore.open(try PostgresAddress("\(address)?schema=\(schema)"))
        let remote = InMemoryRemote()
        let filler = String(repeating: "x", count: 400)
        let keys = (0..<20_000).map { "g\($0)" }
        for key in keys { remote.upsert("games", key, #"{"v":"\#(key)","note":"\#(filler)"}"#) }
        let engine = try await SyncEngine(
          schema: try SyncSchema(Entity("games")), store: store, source: remote,
          options: SyncOptions(pageSize: 400))
        do throws(SyncError) {
          _ = try await engine.sync()
          Issue.record("The disk had room for everything.")
        } catch {
          #expect(error.code == .storeFull)
          #expect(error.message.contains("disk is full"))
        }
        let kept = try await count(store)
        #expect(kept > 0 && kept < keys.count && kept.isMultiple(of: 400), "\(kept) records")
        // As long as there is no room, nothing is written, and everything can be read.
        await #expect(throws: SyncError.self) { try await engine.sync() }
        #expect(try await count(store) >= kept)
        try disk.resize(megabytes: 64)
        let result = try await engine.sync()
        #expect(result.total.inserted < keys.count, "The sync goes on where the disk was full.")
        let all = try await store.read { (snapshot) throws(SyncError) in try snapshot.records(Query("games"))
        }
        #expect(all.map(\.id.key) == keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        #expect(all.allSatisfy { $0.payload.bytes.count > 400 })
        await store.close()
      }
    }

    private func count(_ store: PostgresStore) async throws -> Int {
      try await store.read { (snapshot) throws(SyncError) in try snapshot.count(Query("games")) }
    }
  }
#endif
