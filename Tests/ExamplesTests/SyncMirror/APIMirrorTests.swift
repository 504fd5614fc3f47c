#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import SyncJSON
  import Testing

  /// The tool with a described API, as a new user runs it.
  @Suite(
    "sync-mirror --api", .enabled(if: RealREST.address != nil, "Tests/run --all starts the server."),
    .serialized,
    .timeLimit(.minutes(10)))
  struct APIMirrorTests {
    private static let tool = Tool(name: "sync-mirror")

    /// Writes a description and a secret into a folder, and returns the tool's arguments.
    private func arguments(
      _ realm: RealREST, in folder: Folder, _ types: [String] = ["items"], _ more: String = ""
    ) throws -> [String] {
      try folder.write("token", ["Token tests-token"])
      let text = realm.description(.page, types, auth: "file:\(folder.path("token"))", more)
      try folder.write("api.json", [text])
      return ["--api", folder.path("api.json"), "--json"]
    }

    @Test func checksThenMirrorsThenPushes() async throws {
      let realm = try RealREST()
      try await realm.load("items", (0..<250).map { ("k\($0)", #"{"id":"k\#($0)","number":\#($0)}"#) })
      try await withFolder { folder in
        let arguments = try arguments(realm, in: folder, ["items"], #","deleted":"/deleted""#)
        let check = try await Self.tool.start(arguments + ["--check", "--page-size", "100"]).outcome()
        #expect(check.status == 0, "\(check.errors)")
        #expect(check.output.contains("100 records on the first page, at /results."))
        #expect(check.output.contains("A first sync of 250 records takes about 3 requests"))
        let store = folder.path("mirror.sqlite")
        #expect(!FileManager.default.fileExists(atPath: store))

        let mirroring = arguments + ["--store", store, "--page-size", "100"]
        let first = try await Self.tool.start(mirroring).outcome()
        #expect(first.status == 0, "\(first.errors)")
        #expect(try first.count("inserted", of: "items") == 250)

        let edit = try await Tool(name: "sync-inspect").run(
          "edit", "--store", store, "--type", "items", "--id", "k1", "--set", "number=100")
        #expect(edit.status == 0, "\(edit.errors)")
        let second = try await Self.tool.start(mirroring + ["--push"]).outcome()
        #expect(second.status == 0, "\(second.errors)")
        let listed = try await realm.listing("items")
        #expect(listed["k1"]?.contains("\"number\":100") == true)
        let exported = try await Tool(name: "sync-inspect").run("export", "--store", store, "--type", "items")
          .lines
        let wanted = listed.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
          .map { String(decoding: JSONScanner.compacted(Array($0.value.utf8)[...]), as: UTF8.self) }
        #expect(exported == wanted)
      }
    }

    @Test func tellsWhatIsWrongWithADescription() async throws {
      let realm = try RealREST()
      try await realm.load("items", (0..<3).map { ("k\($0)", #"{"id":"k\#($0)"}"#) })
      try await withFolder { folder in
        let arguments = try arguments(realm, in: folder, ["items"], #","references":{"home":"items"}"#)
        let check = try await Self.tool.start(arguments + ["--check"]).outcome()
        #expect(check.status == 1)
        #expect(
          check.output.contains(
            "PROBLEM: /home (types.items.references.home) leads to nothing in any of 3 records."))
        let text = realm.description(.page, ["items"], auth: "file:\(folder.path("token"))")
        try folder.write("api.json", [text.replacing("/results", with: "/result")])
        let sync = try await Self.tool.run(
          "--api", folder.path("api.json"), "--store", folder.path("m.sqlite"))
        #expect(sync.status == 1)
        #expect(sync.errors.contains("/result (types.items.records) leads to nothing; expected is a list"))
        #expect(sync.output.hasPrefix("The mirror is not up to date, after "))
        try folder.write("api.json", [#"{"base":"https://a.test","tpyes":{}}"#])
        let wrong = try await Self.tool.start(arguments + ["--check"]).outcome()
        #expect(wrong.status == 1)
        #expect(wrong.errors.contains(#"tpyes is not a known member; did you mean "types"?"#))
      }
    }
  }

  @Suite("What sync-mirror is called with for an API", .timeLimit(.minutes(10)))
  struct APIUsageTests {
    @Test(arguments: [
      (["--api", "a.json"], "--store PATH is required"),
      (
        ["--api", "a.json", "--server", "http://127.0.0.1:1/v1", "--store", "s"], "does not go with --server"
      ),
      (
        ["--server", "http://127.0.0.1:1/v1", "--bucket", "b", "--check"], "--check needs a described remote"
      ),
      (["--store", "s"], "--server URL is required, or --api FILE"),
      (["--api", "a.json", "--store", "s", "--auth", "u:p"], "--auth is for a Kinto server"),
      (["--cloudkit", "c.json", "--store", "s", "--auth", "u:p"], "--auth is for a Kinto server"),
      (["--api", "a.json", "--check", "--push"], "--check and --push do not go together"),
      (["--api", "a.json", "--check", "--watch"], "--check and --watch do not go together"),
      (["--api", "a.json", "--check", "--dry-run"], "--check and --dry-run do not go together"),
      (["--api", "a.json", "--check", "--resync"], "--check and --resync do not go together"),
    ])
    func mistakesAreTold(_ options: [String], _ message: String) async throws {
      try await withFolder { folder in
        let outcome = try await Tool(name: "sync-mirror").start(options, in: folder.url).outcome()
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
      }
    }

    @Test func aMissingDescriptionIsTold() async throws {
      try await withFolder { folder in
        let outcome = try await Tool(name: "sync-mirror").run(
          "--api", "none.json", "--store", "s.sqlite", in: folder.url)
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("none.json cannot be opened."))
      }
    }

    @Test func neitherAnUnusedVariableNorADefaultIsAMistake() async throws {
      try await withFolder { folder in
        let outcome = try await Tool(name: "sync-mirror").start(
          ["--api", "none.json", "--store", "s.sqlite", "--poll-min", "120"], in: folder.url,
          environment: ["SYNC_MIRROR_AUTH": "no colon"]
        ).outcome()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("none.json cannot be opened."), "\(outcome.errors)")
      }
    }
  }
#endif
