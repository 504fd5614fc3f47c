#if SQLite
  import CanonicalSyncTestServers
  import Foundation
  import Testing

  /// The tool with an API of a few records, whose description changes.
  @Suite("A described mirror", .timeLimit(.minutes(10)))
  struct DescribedMirrorTests {
    private static let tool = Tool(name: "sync-mirror")
    private static let database = ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"]

    /// Answers each request with one record.
    private static let answer: LoopbackServer.Answer = { _, send in
      let body = #"{"data":[{"id":"a","last_modified":1,"home":"a"}]}"#
      _ = send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }

    /// Writes a description of types, some of which refer to others, and returns the arguments.
    private func describe(
      _ server: LoopbackServer, _ types: [(name: String, home: String?)], in folder: Folder
    ) throws -> [String] {
      let described = types.map { name, home in
        let reference = home.map { #","references":{"home":"\#($0)"}"# } ?? ""
        return
          #""\#(name)":{"path":"\#(name)","records":"/data","version":"/last_modified","#
          + #""paging":{"cursor":"/cursor","parameter":"after"}\#(reference)}"#
      }
      try folder.write(
        "api.json", [#"{"base":"\#(server.origin)","types":{\#(described.joined(separator: ","))}}"#])
      return ["--api", folder.path("api.json"), "--json"]
    }

    @Test func leavesOutWhatDiffersFromATypeInCaseAloneAndWhatRefersToIt() async throws {
      try await LoopbackServer.with(Self.answer) { server in
        try await withFolder { folder in
          let store = ["--store", folder.path("m.sqlite")]
          let before = try describe(server, [("teams", nil), ("games", nil)], in: folder)
          let first = try await Self.tool.start(before + store).outcome()
          #expect(first.status == 0, "\(first.errors)")
          let after = try describe(
            server, [("Teams", nil), ("games", nil), ("players", "Teams"), ("coaches", "games")], in: folder)
          let second = try await Self.tool.start(after + store).outcome()
          #expect(second.status == 1)
          let failures = try second.json["failures"] as? [String: String]
          #expect(failures?.keys.sorted() == ["Teams", "players"], "\(second.errors)")
          #expect(second.errors.contains("Teams is not mirrored."))
          #expect(
            second.errors.contains("players is not mirrored. It refers to Teams, which is not mirrored."))
          #expect(try second.count("inserted", of: "coaches") == 1)
          // What is left out is no failure of the others.
          let chosen = try await Self.tool.start(after + store + ["--collection", "games"]).outcome()
          #expect(chosen.status == 0, "\(chosen.errors)")
        }
      }
    }

    @Test func anotherAddressNeedsPermission() async throws {
      let empty = LoopbackServer.fixed("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"data\":[]}")
      try await LoopbackServer.with(Self.answer) { server in
        try await LoopbackServer.with(empty) { other in
          try await withFolder { folder in
            let store = ["--store", folder.path("m.sqlite")]
            let right = try describe(server, [("games", nil)], in: folder)
            #expect(try await Self.tool.start(right + store).outcome().count("inserted", of: "games") == 1)
            let wrong = try describe(other, [("games", nil)], in: folder)
            for options in [[], ["--dry-run"], ["--resync"], ["--allow-mass-deletion"]] {
              let outcome = try await Self.tool.start(wrong + store + options).outcome()
              #expect(
                outcome.status == 1 && outcome.errors.contains("--allow-other-remote"), "\(outcome.errors)")
            }
            // Nothing was noted of it: the right remote is asked for changes alone.
            let again = try await Self.tool.start(describe(server, [("games", nil)], in: folder) + store)
              .outcome()
            #expect(try again.status == 0 && again.count("inserted", of: "games") == 0, "\(again.errors)")
            _ = try describe(other, [("games", nil)], in: folder)
            let allowed = try await Self.tool.start(wrong + store + ["--allow-other-remote"]).outcome()
            #expect(allowed.status == 0, "\(allowed.errors)")
          }
        }
      }
    }

    @Test func tellsOfAPageOfAProxyByAddressTypeAndBeginning() async throws {
      let body = "<!DOCTYPE html><title>Sign in</title>"
      let answer = LoopbackServer.fixed(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
      try await LoopbackServer.with(answer) { server in
        try await withFolder { folder in
          let api = try describe(server, [("games", nil)], in: folder)
          let kinto = ["--server", "\(server.origin)/v1", "--bucket", "b", "--collection", "games"]
          for (options, path) in [(api, "/games"), (kinto, "/v1/buckets/b/collections/games/records")] {
            let outcome = try await Self.tool.start(options + ["--store", folder.path("m.sqlite")]).outcome()
            #expect(outcome.status == 1)
            #expect(
              outcome.errors.contains("(\(server.origin)\(path), text/html): it begins with \"\(body)\""),
              "\(outcome.errors)")
          }
        }
      }
    }

    @Test func saysWhyADescriptionOrAnAddressIsNotOne() async throws {
      try await withFolder { folder in
        func errors(_ base: String) async throws -> String {
          try folder.write(
            "api.json", [#"{"base":"\#(base)","types":{"games":{"path":"games","records":"/data"}}}"#])
          return try await Self.tool.run("--api", "api.json", "--store", "m.sqlite", in: folder.url).errors
        }
        #expect(try await errors("http//x").contains(#"The server's address "http//x" is invalid."#))
        #expect(try await !errors("http//me:secret@x").contains("secret"))
        let missing = try await Self.tool.run("--api", "no.json", "--store", "m.sqlite", in: folder.url)
        #expect(missing.errors.contains("no.json cannot be opened. The reason: No such file or directory."))
      }
    }

    @Test func checksOnlyWhatIsNamed() async throws {
      try await LoopbackServer.with(Self.answer) { server in
        try await withFolder { folder in
          let options = try describe(server, [("teams", nil), ("games", nil)], in: folder) + ["--check"]
          let all = try await Self.tool.start(options).outcome().json["types"] as? [String: Any]
          #expect(all?.keys.sorted() == ["games", "teams"])
          let named = try await Self.tool.start(options + ["--collection", "games"]).outcome()
          #expect((try named.json["types"] as? [String: Any])?.keys.sorted() == ["games"])
          let unknown = try await Self.tool.start(options + ["--collection", "game"]).outcome()
          #expect(unknown.status == 1)
          #expect(unknown.errors.contains("The description has no type \"game\""), "\(unknown.errors)")
        }
      }
    }

    @Test func aCheckStopsAtCtrlCWithAnObject() async throws {
      let (asked, ask) = AsyncStream.makeStream(of: Void.self)
      // It never answers.
      try await LoopbackServer.with({ _, _ in ask.yield() }) { server in
        try await withFolder { folder in
          let options = try describe(server, [("games", nil)], in: folder)
          let running = try Self.tool.start(options + ["--check"])
          for await _ in asked { break }
          running.send(SIGINT)
          let outcome = await running.outcome()
          #expect(outcome.status == 130)
          #expect(outcome.output == "{\"wasCancelled\":true}\n")
        }
      }
    }

    #if Postgres
      @Test(.enabled(if: database != nil)) func saysHowToReadADatabase() async throws {
        try await LoopbackServer.with(Self.answer) { server in
          try await withFolder { folder in
            let schema = "mirror_\(UUID().uuidString.lowercased().replacing("-", with: ""))"
            let store = "\(Self.database ?? "")?schema=\(schema)"
            let options = try describe(server, [("games", nil)], in: folder)
            let outcome = try await Self.tool.start(options + ["--store", store]).outcome()
            #expect(outcome.status == 0, "\(outcome.errors)")
            #expect(!outcome.output.contains("sqlite3"))
            #expect(outcome.output.contains("sync-inspect export --store '\(store)' --type 'games'"))
          }
        }
      }
    #endif
  }
#endif
