#if SQLite && CloudKit && os(Linux)
  import CanonicalSyncTestServers
  import Foundation
  import SyncJSON
  import SyncPorts
  import Testing

  @Suite("sync-mirror --cloudkit", .timeLimit(.minutes(10))) struct MirrorCloudKitTests {
    /// A declaration beside its secrets, and the service that it declares.
    private struct Declared {
      let folder: Folder
      let service: StandInCloudKit
      let privateKey: String

      var secrets: [String] {
        ["api+token/=", "first+/="]
          + privateKey.split(separator: "\n").dropFirst().dropLast().map(String.init)
      }

      func mirror(_ more: String...) async throws -> Tool.Outcome {
        let outcome = try await Tool(name: "sync-mirror").start(
          ["--cloudkit", "games.json", "--store", folder.path("mirror.sqlite"), "--json", "--log"] + more,
          in: folder.url
        ).outcome()
        for secret in secrets {
          #expect(!outcome.output.contains(secret) && !outcome.errors.contains(secret))
        }
        return outcome
      }
    }

    private func withDeclared(
      _ database: String, _ body: (Declared) async throws -> Void
    ) async throws {
      let keys = try StandInCloudKit.makeKey()
      var settings = StandInCloudKit.Settings()
      settings.publicKey = keys.publicKey
      let service = StandInCloudKit(settings: settings, clock: ContinuousClock())
      service.webToken = "first+/="
      service.makeZone("Games")
      let isPublic = database == "public"
      try await service.serve { endpoint in
        try await withFolder { folder in
          let auth =
            isPublic
            ? #"{"serverToServer":{"keyID":"file:id","privateKey":"file:key.pem"}}"#
            : #"{"apiToken":"file:api","webAuthToken":"file:token"}"#
          try folder.write("id", ["key"])
          try folder.write("key.pem", [keys.privateKey])
          try folder.write("api", [settings.apiToken])
          try folder.write("token", ["first+/="])
          try folder.write(
            "games.json",
            [
              #"{"container":"\#(StandInCloudKit.container)","environment":"development","database":"\#(database)","#,
              isPublic ? "" : #""zone":"Games","#, #""endpoint":"\#(endpoint)","auth":\#(auth),"#,
              #""types":{"games":{"recordType":"Game","references":{"home":"teams"},"sweepEvery":1,"overlap":1},"#,
              #""teams":{"recordType":"Team","sweepEvery":1,"overlap":1}}}"#,
            ])
          try await body(Declared(folder: folder, service: service, privateKey: keys.privateKey))
        }
      }
      #expect(service.violation == nil)
    }

    @Test(arguments: ["public", "private"])
    func mirrorsPushesAndFindsDeletions(_ database: String) async throws {
      try await withDeclared(database) { declared in
        let zone = database == "public" ? "_defaultZone" : "Games"
        let service = declared.service
        service.put(
          [("BOS", [("name", StandInField("\"Boston\"", "STRING"))])], type: "Team", in: database, zone: zone)
        service.put(
          (0..<450).map { number in
            (
              "g\(number)",
              [
                ("home", StandInField(#"{"recordName":"BOS","action":"NONE"}"#, "REFERENCE")),
                ("runs", StandInField("\(number)", "INT64")),
              ]
            )
          }, type: "Game", in: database, zone: zone)
        var outcome = try await declared.mirror("--page-size", "200")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.count("live", of: "games") == 450)
        #expect(try outcome.count("live", of: "teams") == 1)

        let inspect = Tool(name: "sync-inspect")
        let store = declared.folder.path("mirror.sqlite")
        _ = try await inspect.run(
          "edit", "--store", store, "--type", "games", "--id", "g1", "--set", "runs=1000")
        service.delete(["g7"], in: database, zone: zone)
        try await ContinuousClock().sleep(for: .milliseconds(2100))
        outcome = try await declared.mirror("--push")
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(try outcome.count("live", of: "games") == 449)
        #expect(try outcome.json["waitingEdits"] as? Int == 0)
        let runs = service.rows("Game", in: database, zone: zone)["g1"]?.fields.first { $0.name == "runs" }
        #expect(runs?.field == StandInField("1000", "INT64"))
        let exported = try await inspect.run("export", "--store", store, "--type", "games").output
        #expect(exported.contains(#""home":"BOS""#))
        if database == "private" {
          let kept = try String(contentsOfFile: declared.folder.path("token"), encoding: .utf8)
          #expect(kept == "\(service.webToken)\n")
        }
      }
    }

    @Test func saysWhatIsWrongAndDoesNothing() async throws {
      try await withDeclared("public") { declared in
        declared.service.change { $0.sortable = [] }
        var outcome = try await declared.mirror()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("___modTime") && outcome.errors.contains("sortable"))
        outcome = try await declared.mirror("--check")
        #expect(
          outcome.status == 1 && outcome.output.contains("PROBLEM") && outcome.output.contains("sortable"))
        try declared.folder.write("games.json", [#"{"container":"iCloud.x","enviroment":"development"}"#])
        outcome = try await declared.mirror()
        #expect(outcome.status == 1)
        #expect(outcome.errors.contains("enviroment") && outcome.errors.contains("environment"))
        try FileManager.default.removeItem(atPath: declared.folder.path("games.json"))
        outcome = try await declared.mirror()
        #expect(outcome.status == 1 && outcome.errors.contains("games.json"))
        outcome = try await declared.mirror("--server", "https://x")
        #expect(outcome.status == 2 && outcome.errors.contains("--cloudkit does not go with"))
      }
    }
  }
#endif
