#if SQLite
  import Foundation
  import Testing

  @Suite("sync-inspect", .timeLimit(.minutes(10)))
  struct SyncInspectTests {
    /// Adds teams and games: one game is parked, one has a newer schema, two lines are malformed.
    private func fill(_ store: InspectedStore) async throws {
      try store.write("teams", [#"{"id":"BOS"}"#, #"{"id":"NYA"}"#])
      try store.write(
        "games",
        [
          #"{ "id": "é", "home_team_id": "BOS" }"#, #"{"id":"b","home_team_id":"NYA", "x": [1, 2.50]}"#,
          #"{"id":"Z","home_team_id":null}"#, #"{"id":"a","home_team_id":"LAN"}"#,
          #"{"id":"n","schema":3,"home_team_id":"BOS"}"#, "\u{1B}[31mnonsense",
          #"{"home_team_id":"BOS"}"#, #"{"id":"old"}"#,
        ])
      try await store.sync()
    }

    @Test func showsHowEachTypeStands() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let table = try await store.inspect("status")
        #expect(table.status == 0 && table.errors == "")
        #expect(table.output.contains("quarantined"))
        #expect(table.lines.contains { $0.hasPrefix("games") && $0.contains("xxh64:") })
        #expect(table.lines.contains { $0.hasPrefix("games") && $0.contains(" ago") })
        #expect(!table.output.contains("last error") && !table.output.contains("hidden"), "empty columns")
        #expect(table.lines.first?.hasPrefix("Mostly well: all 2 types were up to date ") == true)
        #expect(table.output.contains("2 records are malformed: see `sync-inspect quarantine`."))
        let outcome = try await store.inspect("status", "--json")
        let types = try #require(try outcome.json["types"] as? [String: [String: Any]])
        #expect(types.keys.sorted() == ["games", "teams"])
        #expect(types["teams"]?["live"] as? Int == 2)
        let games = try #require(types["games"])
        #expect(games["live"] as? Int == 4)
        #expect(games["parked"] as? Int == 1)
        #expect(games["incompatible"] as? Int == 1)
        #expect(games["quarantined"] as? Int == 2)
        #expect(games["consecutiveFailures"] as? Int == 0)
        #expect(games["lastSuccessMilliseconds"] as? Int != nil && games["lastError"] is NSNull)
      }
    }

    @Test func listsTheLastSyncs() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        try await store.sync()
        let table = try await store.inspect("history")
        try #require(table.status == 0 && table.lines.count == 4, "\(table)")
        #expect(table.lines[2].hasPrefix("   2  ") && table.lines[3].hasPrefix("   1  "))
        #expect(table.lines[3].contains("request") && table.lines[3].contains("finished"))
        #expect(try await store.inspect("history", "--limit", "1").lines.count == 3)
        let object = try await store.inspect("history", "--json").json
        let entries = try #require(object["entries"] as? [[String: Any]])
        #expect(entries.map { $0["number"] as? Int } == [2, 1])
        let games = (entries[1]["counts"] as? [String: [String: Int]])?["games"]
        #expect(games?["inserted"] == 4 && games?["quarantined"] == 2)
        #expect(entries[1]["outcome"] as? String == "finished" && entries[1]["error"] is NSNull)
      }
    }

    @Test func saysThatAnEditMakesANewRecordAndEndsBadUsageByAnObject() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let made = try await store.inspect("edit", "--type", "teams", "--id", "TYPO", "--set", "name=1")
        #expect(made.output.hasPrefix("There was no teams/TYPO: it is a new record."))
        let known = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--set", "name=1")
        #expect(known.status == 0 && !known.output.contains("new record"))
        let bad = try await store.inspect("status", "--json", "--nonsense")
        let object = try bad.json
        #expect(bad.status == 2 && object["error"] as? String == "usage")
        let copy = try await store.inspect("copy")
        #expect(copy.status == 2 && copy.errors.contains("backup, move"))
      }
    }

    @Test func listsWhatWaitsByWhatIsMissing() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let told = try await store.inspect("waiting")
        #expect(told.status == 0 && told.lines.count == 1)
        #expect(told.output.hasPrefix("teams/LAN was never received; 1 record waits for it since "))
        #expect(told.output.hasSuffix(": games/a\n"))
        let json = try await store.inspect("waiting", "--json").json
        let group = (json["groups"] as? [[String: Any]])?.first
        #expect(json["waiting"] as? Int == 1 && group?["missing"] as? String == "teams/LAN")
        #expect(group?["records"] as? [String] == ["games/a"])
        #expect(
          try await store.inspect("waiting", "--type", "teams").output == "No record waits for another one.\n"
        )
        let status = try await store.inspect("status", "--json", "--stale-after", "1000000").json
        #expect(status["isWell"] as? Bool == false && (status["advice"] as? [String])?.count == 3)
      }
    }

    @Test func saysAtFirstWhetherAllIsWell() async throws {
      try await InspectedStore.with { store in
        try store.write("teams", [#"{"id":"BOS"}"#])
        try store.write("games", [])
        try await store.sync()
        let well = try await store.inspect("status")
        #expect(well.lines.first?.hasPrefix("All is well: all 2 types were up to date ") == true)
        #expect(!well.output.contains("\u{1B}"), "a pipe has no colours")
      }
    }

    @Test func fitsATerminalAndIsColouredOnlyThere() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        // `script` runs a command on a terminal of its own.
        let screen = #"stty cols COLUMNS; "$TOOL" status --store "$STORE""#
        for columns in [60, 200] {
          let line = screen.replacingOccurrences(of: "COLUMNS", with: String(columns))
          let quoted = "TERM=xterm script -qec '\(line)' /dev/null"
          // SwiftPM may have set NO_COLOR for the tests themselves.
          let outcome = try await store.shell("unset NO_COLOR; \(quoted)")
          let lines = outcome.output.split(whereSeparator: \.isNewline).map { $0.filter { $0 != "\r" } }
          #expect(outcome.status == 0 && outcome.output.contains("\u{1B}[33mMostly well"))
          #expect(lines.allSatisfy { $0.visible.count <= columns }, "\(outcome.output)")
          let plain = try await store.shell("NO_COLOR=1; export NO_COLOR; \(quoted)")
          #expect(plain.output.contains("Mostly well") && !plain.output.contains("\u{1B}["))
        }
      }
    }

    @Test(arguments: [
      #""$TOOL" edit --help"#, #""$TOOL" move --help"#, #""$TOOL" outbox --store "$STORE""#,
      #""$TOOL" history --store "$STORE""#, #""$TOOL" explain --store "$STORE" --type games --id a"#,
      #""$TOOL" verify --store "$STORE""#,
    ])
    func fitsEightyColumns(_ command: String) async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        _ = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--set", "name=1")
        let outcome = try await store.shell("TERM=xterm script -qec 'stty cols 80; \(command)' /dev/null")
        let lines = outcome.output.split(whereSeparator: \.isNewline).map { $0.filter { $0 != "\r" } }
        #expect(outcome.status == 0 && !lines.isEmpty)
        #expect(lines.allSatisfy { $0.visible.count <= 80 }, "\(outcome.output)")
      }
    }

    /// Each number of milliseconds since 1970 has a name that says so.
    @Test func namesTheUnitOfEachTime() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        _ = try await store.inspect("edit", "--type", "teams", "--id", "BOS", "--set", "name=1")
        for command in [["status"], ["history"], ["outbox"], ["waiting"], ["quarantine"]] {
          let json = try await store.inspect(command[0], "--json").json
          let nameless = Self.members(json).filter { name, number in
            number > 1e12 && number < 1e13 && !name.hasSuffix("Milliseconds")
          }
          #expect(nameless.isEmpty, "\(command): \(nameless)")
          #expect(command == ["quarantine"] || !Self.members(json).isEmpty)
        }
      }
    }

    /// The members with numbers, at any depth.
    private static func members(_ value: Any) -> [(String, Double)] {
      if let list = value as? [Any] { return list.flatMap(members) }
      guard let object = value as? [String: Any] else { return [] }
      return object.flatMap { name, value -> [(String, Double)] in
        if let number = value as? NSNumber, !(value is [Any]) { return [(name, number.doubleValue)] }
        return members(value)
      }
    }

    @Test func exportsLiveRecordsCompactAndInTheOrderOfTheirBytes() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let lines = [
          #"{"id":"Z","home_team_id":null}"#, #"{"id":"b","home_team_id":"NYA","x":[1,2.50]}"#,
          #"{"id":"old"}"#, #"{"id":"é","home_team_id":"BOS"}"#,
        ]
        let outcome = try await store.inspect("export", "--type", "games")
        #expect(outcome.status == 0 && outcome.errors == "")
        #expect(outcome.lines == lines)
        let counted = try await store.inspect("export", "--type", "games", "--json")
        #expect(counted.lines.dropLast() == lines[...])
        #expect(try counted.json["records"] as? Int == 4)
      }
    }

    @Test func exportsMoreThanItHoldsAtOnceAndStopsWithoutAReader() async throws {
      try await InspectedStore.with { store in
        let lines = (10_000..<14_500).map {
          "{\"id\":\"t\($0)\",\"x\":\"\(String(repeating: "-", count: 80))\"}"
        }
        try store.write("teams", lines)
        try store.write("games", [])
        try await store.sync()
        #expect(try await store.inspect("export", "--type", "teams").lines == lines)
        let head = try await store.shell(#""$TOOL" export --type teams --store "$STORE" | head -n 1"#)
        #expect(head.status == 0 && head.lines == [lines[0]] && head.errors == "")
      }
    }

    @Test func explainsWhereARecordHasGone() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        try store.write("games", [#"{"id":"é","home_team_id":"BOS"}"#, #"{"id":"a","home_team_id":"LAN"}"#])
        try await store.sync()
        let live = try await store.inspect("explain", "--type", "games", "--id", "é")
        #expect(live.status == 0 && live.output.contains("games/é is live"))
        let parked = try await store.inspect("explain", "--type", "games", "--id", "a")
        #expect(parked.status == 0 && parked.output.contains("waits for teams/LAN"))
        let unheard = try await store.inspect("explain", "--type", "games", "--id", "zz")
        #expect(unheard.status == 1 && unheard.output.contains("is unknown to this store"))
        let object = try await store.inspect("explain", "--type", "games", "--id", "zz", "--json")
        #expect(try object.status == 1 && object.json["known"] as? Bool == false)
        let other = try await store.inspect("explain", "--type", "games", "--id", "a", "--json")
        let entries = try #require(try other.json["withheld"] as? [[String: Any]])
        #expect(entries.map { $0["kind"] as? String } == ["parked"])
        #expect(entries.first?["waitsFor"] as? [String] == ["teams/LAN"])
      }
    }

    @Test func tellsOfDeletions() async throws {
      try await InspectedStore.with { store in
        try store.write("teams", [#"{"id":"BOS"}"#, #"{"id":"NYA"}"#])
        try store.write("games", [])
        try await store.sync()
        try store.write("teams", [#"{"id":"BOS"}"#])
        try await store.sync()
        let deleted = try await store.inspect("explain", "--type", "teams", "--id", "NYA")
        #expect(deleted.status == 0 && deleted.output.contains("was deleted"))
      }
    }

    @Test func listsWhatCouldNotBeRead() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let outcome = try await store.inspect("quarantine")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("games.ndjson, line 6"))
        #expect(outcome.output.contains("games.ndjson, line 7"))
        #expect(outcome.output.contains(#"{\"home_team_id\":\"BOS\"}"#))
        #expect(!outcome.output.contains("\u{1B}"))
        #expect(
          try await store.inspect("quarantine", "--type", "teams").output == "Nothing is quarantined.\n")
        let json = try await store.inspect("quarantine", "--json").json
        let entries = try #require(json["entries"] as? [[String: Any]])
        #expect(entries.contains { $0["content"] as? String == "\u{1B}[31mnonsense" })
      }
    }

    @Test func showsAllBytesOnlyWhenAsked() async throws {
      try await InspectedStore.with { store in
        let long = String(repeating: "x", count: 1000)
        try store.write("teams", [long])
        try store.write("games", [])
        try await store.sync()
        #expect(!(try await store.inspect("quarantine").output.contains(long)))
        #expect(try await store.inspect("quarantine", "--full").output.contains(long))
      }
    }

    @Test func namesTheTypesThatThereAre() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        for command in ["export", "quarantine"] {
          let outcome = try await store.inspect(command, "--type", "gmaes")
          #expect(outcome.status == 1 && outcome.output == "")
          #expect(outcome.errors.contains("games, teams"))
        }
      }
    }

    @Test func changesNothing() async throws {
      try await InspectedStore.with { store in
        try await fill(store)
        let folder = URL(filePath: store.path).deletingLastPathComponent()
        let before = try Data(contentsOf: URL(filePath: store.path))
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        for arguments in ["status", "export --type games", "quarantine"] {
          #expect(try await store.shell(#""$TOOL" --store "$STORE" \#(arguments)"#).status == 0)
        }
        #expect(try Data(contentsOf: URL(filePath: store.path)) == before)
        // SQLite's own log and its index come and go with every reader.
        let added = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path)).subtracting(files)
        #expect(added.isSubset(of: ["store.db-wal", "store.db-shm"]), "\(added)")
      }
    }

    @Test func leavesAMissingStoreMissing() async throws {
      try await InspectedStore.with { store in
        let outcome = try await store.inspect("status")
        #expect(outcome.status == 1 && outcome.output == "")
        #expect(outcome.errors.contains("store.db"))
        #expect(!FileManager.default.fileExists(atPath: store.path))
      }
    }

    @Test(
      arguments: [
        ["status", "extra"], ["export"], ["explain", "--type", "games"], ["frobnicate"],
        ["status", "--type", "games"],
      ])
    func refusesWhatItDoesNotUnderstand(_ arguments: [String]) async throws {
      try await InspectedStore.with { store in
        let outcome = try await store.shell(
          #""$TOOL" --store "$STORE" \#(arguments.joined(separator: " "))"#)
        #expect(outcome.status == 2 && outcome.output == "" && outcome.errors.contains("--help"))
      }
    }
  }

  extension String {
    /// The text without the codes of colours.
    fileprivate var visible: String { replacing(#/\u{1B}\[\d+m/#, with: "") }
  }
#endif
