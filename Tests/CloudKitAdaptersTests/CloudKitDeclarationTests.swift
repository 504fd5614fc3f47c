#if CloudKit && os(Linux)
  import CanonicalSyncTestServers
  import CloudKitAdapters
  import Foundation
  import SyncModels
  import Testing

  @Suite("Declarations of CloudKit databases", .timeLimit(.minutes(10))) struct CloudKitDeclarationTests {
    /// Runs a body in a folder with a key and a token.
    private func withFolder(_ body: (String) throws -> Void) throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      for (name, text) in [
        ("key.pem", try StandInCloudKit.makeKey().privateKey), ("id", "the-key-id\n"), ("token", "web-token"),
        ("none.pem", "no key"),
      ] {
        try text.write(to: folder.appending(path: name), atomically: true, encoding: .utf8)
      }
      try body(folder.path)
    }

    private func declaration(_ folder: String, _ change: (String) -> String = { $0 }) throws
      -> CloudKitDeclaration
    {
      let json = """
        {"container":"iCloud.com.example","environment":"development","database":"public",
         "auth":{"serverToServer":{"keyID":"file:\(folder)/id","privateKey":"file:\(folder)/key.pem"}},
         "types":{"games":{"recordType":"Game","references":{"home":"teams"},"indexes":["date"],"overlap":30,
          "fields":{"start":"TIMESTAMP"},"deleted":"isDeleted","sweepEvery":3600},"teams":{"recordType":"Team"}}}
        """
      return try CloudKitDeclaration(Array(change(json).utf8), of: "games.json")
    }

    @Test func areReadWhole() throws {
      try withFolder { folder in
        let declared = try declaration(folder)
        #expect(declared.schema.entities.map(\.type) == ["teams", "games"])
        let games = try #require(declared.types["games"])
        #expect(games.recordType == "Game" && games.overlap == .seconds(30))
        #expect(games.sweepEvery == .seconds(3600) && games.deleted == "isDeleted")
        #expect(games.fields == ["start": FieldType(rawValue: "TIMESTAMP")])
        #expect(declared.schema["games"]?.indexes == ["date"])
        let user = try declaration(folder) {
          $0.replacing("\"public\"", with: "\"private\",\"zone\":\"Games\"")
            .replacing(
              #"{"serverToServer":{"keyID":"file:\#(folder)/id","privateKey":"file:\#(folder)/key.pem"}}"#,
              with: #"{"apiToken":"file:\#(folder)/id","webAuthToken":"file:\#(folder)/token"}"#)
        }
        #expect(user.database.zone == ZoneID("Games"))
        for secret in ["the-key-id", "web-token"] {
          #expect(!"\(declared) \(user)".contains(secret))
        }
      }
    }

    @Test func nameTheMemberThatIsWrong() throws {
      let wrong: [(from: String, to: String, words: [String])] = [
        (#""container":"iCloud.com.example","#, "", ["container"]),
        ("development", "staging", ["environment", "production"]),
        (#""public""#, #""pubic""#, ["database", "public"]),
        (#""recordType":"Team""#, #""recordtype":"Team""#, ["types.teams.recordtype", "recordType"]),
        (#""recordType":"Team""#, "", ["types.teams", "recordType"]),
        (#""overlap":30"#, #""overlap":"30""#, ["types.games.overlap", "seconds"]),
        (#""home":"teams""#, #""home":"team""#, ["games.home", "teams"]),
        (#""TIMESTAMP""#, #""TIME""#, ["start", "TIME"]),
        (#""public","#, #""private","#, ["zone"]),
        ("key.pem", "none.pem", ["not PEM", "none.pem"]),
        ("key.pem", "missing.pem", ["missing.pem"]),
        ("file:", "", ["env:NAME"]),
        (#""auth":{"serverToServer""#, #""auth":{"serverToSever""#, ["auth", "serverToServer"]),
        (#""endpoint""#, #""endpoint""#, []),
        ("{\"container\"", "[\"container\"", []),
      ]
      try withFolder { folder in
        for (from, to, words) in wrong {
          do {
            _ = try declaration(folder) { $0.replacing(from, with: to) }
            #expect(words.isEmpty, "\(from) became \(to).")
          } catch let error as SyncError {
            #expect(error.code == .invalidConfiguration)
            for word in words { #expect(error.description.contains(word), "\(error)") }
          }
        }
        let error = #expect(throws: SyncError.self) {
          _ = try declaration(folder) {
            $0.replacing("\"public\"", with: "\"private\",\"zone\":\"Games\"")
              .replacing(
                #"{"serverToServer":{"keyID":"file:\#(folder)/id","privateKey":"file:\#(folder)/key.pem"}}"#,
                with: #"{"apiToken":"file:\#(folder)/id","webAuthToken":"env:HOME"}"#)
          }
        }
        #expect(error?.message.contains("auth.webAuthToken must be \"file:PATH\"") == true)
      }
    }
  }
#endif
