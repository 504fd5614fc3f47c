import CanonicalSync
import SyncAdapters
import Testing

@testable import CanonicalSyncToolSupport

@Suite("Command lines")
struct ToolSupportArgumentTests {
  static let store = Option.requiredText("store", "PATH", "where the store is")
  static let pageSize = Option.number("page-size", "N", "records in a page", in: 1...10_000, default: 400)
  static let limit = Option.number("limit", "N", "Stop after as many.", in: 0...Int.max)
  static let type = Option<String?>.text("type", "TYPE", "Only this type.")
  static let set = Option.texts("set", "KEY=JSON", "A field to change.")
  static let json = Option.flag("json", "end with one line of JSON")
  static let tool = Command(
    "inspect", "Looks into a store.", options: [store, pageSize, json],
    commands: [
      Command("export", "Prints records.", options: [type, limit]),
      Command("edit", "Changes a record.", options: [type, set]),
      Command("status", "Prints what state each type is in."),
    ],
    examples: [("inspect status --store a.sqlite", "See how far the last sync came.")])

  static func read(_ line: String) throws(UsageError) -> Arguments {
    guard case .run(let arguments) = try tool.parse(line.split(separator: " ").map(String.init)) else {
      throw UsageError("help was asked for")
    }
    return arguments
  }

  @Test(arguments: [
    "export --store a.sqlite --page-size 7 --json --type games",
    "--json export --type=games --page-size=7 --store=a.sqlite",
    "--type games --page-size 7 --store a.sqlite export --json",
  ])
  func mayGiveOptionsInAnyOrderWithASpaceOrAnEqualsSign(_ line: String) throws {
    let arguments = try Self.read(line)
    #expect(arguments.command == "export")
    #expect(arguments[Self.store] == "a.sqlite")
    #expect(arguments[Self.pageSize] == 7)
    #expect(arguments[Self.type] == "games")
    #expect(arguments[Self.json])
  }

  @Test func leaveTheRestAtItsDefault() throws {
    let arguments = try Self.read("edit --store a")
    #expect(arguments[Self.pageSize] == 400)
    #expect(arguments[Self.limit] == nil)
    #expect(arguments[Self.type] == nil)
    #expect(arguments[Self.set] == [])
    #expect(!arguments[Self.json])
  }

  @Test func mayRepeatWhatIsRepeatableAndKeepEqualsSignsInValues() throws {
    let arguments = try Self.read("edit --store a --set a=1 --set=b=-2")
    #expect(arguments[Self.set] == ["a=1", "b=-2"])
  }

  @Test(arguments: [
    ("status --store a --jsn", "unknown option --jsn; did you mean --json?"),
    ("status --store a --page_size 3", "unknown option --page_size; did you mean --page-size?"),
    ("status --store a --frobnicate", "unknown option --frobnicate"),
    ("status --store a -j", "unknown option -j"),
    ("statsu --store a", "unknown command statsu; did you mean status?"),
    ("status more --store a", "unexpected argument more"),
    ("--store a", "a command is missing: export, edit, status"),
    ("status", "--store PATH is required"),
    ("status --store", "--store needs a value: PATH"),
    ("status --store --json", "--store needs a value: PATH"),
    ("status --store=", "--store needs a value: PATH"),
    ("status --store a --store b", "--store was given twice"),
    ("status --store a --json=yes", "--json takes no value, but yes was given"),
    ("status --store a --page-size 0", "--page-size must be between 1 and 10000, not 0"),
    ("status --store a --page-size 10001", "--page-size must be between 1 and 10000, not 10001"),
    ("status --store a --page-size -1", "--page-size must be between 1 and 10000, not -1"),
    ("status --store a --page-size 4x", "--page-size must be a whole number, between 1 and 10000, not 4x"),
    (
      "status --store a --page-size 99999999999999999999",
      "--page-size must be between 1 and 10000, not 99999999999999999999"
    ),
    ("export --store a --limit -1", "--limit must be 0 or more, not -1"),
    ("--type games status --store a", "--type is not an option of status"),
  ])
  func areRefusedWithALineThatSaysWhatIsWrong(_ line: String, _ message: String) {
    #expect(throws: UsageError(message)) { try Self.read(line) }
  }

  @Test(arguments: ["--help", "-h", "--store a --help", "--page-size 7 --json --help"])
  func getTheToolsHelpWhereverItIsAskedFor(_ line: String) throws {
    guard case .help(let text) = try Self.tool.parse(line.split(separator: " ").map(String.init)) else {
      Issue.record("no help")
      return
    }
    #expect(
      text == """
        usage: inspect COMMAND --store PATH [options]

        Looks into a store.

        commands:
          export  Prints records.
          edit    Changes a record.
          status  Prints what state each type is in.

        options:
          --store PATH   where the store is
          --page-size N  records in a page (1 to 10000, default 400)
          --json         end with one line of JSON
          --quiet        write no progress and no notices, only results, warnings and errors
          --help         print this help
          --version      print the version

        exit codes:
          0    success
          1    failure; standard error says what failed
          2    the command line was wrong; nothing was done
          130  interrupted (Ctrl-C); what was done is kept

        examples:
          inspect status --store a.sqlite
              See how far the last sync came.

        """)
  }

  @Test(arguments: ["--version", "export --version", "--json --version"])
  func getTheVersion(_ line: String) throws {
    guard case .help(let text) = try Self.tool.parse(line.split(separator: " ").map(String.init)) else {
      Issue.record("no version")
      return
    }
    #expect(text == "inspect \(LibraryVersion.current)\n")
  }

  @Test func getACommandsOwnHelpAfterItsName() throws {
    guard case .help(let text) = try Self.tool.parse(["export", "--help"]) else {
      Issue.record("no help")
      return
    }
    #expect(
      text.hasPrefix(
        "usage: inspect export --store PATH [options]\n\nPrints records.\n\noptions:\n  --type TYPE"))
    #expect(text.contains("\n  --limit N      Stop after as many. (0 or more)\n"))
  }

  @Test func wrapALongHelpSentenceInItsColumn() {
    let words = Array(repeating: "words", count: 28).joined(separator: " ")
    let lines = Command("tool", "Does.", options: [Option.flag("long", words)]).helpText()
      .split(separator: "\n").filter { $0.contains("words") }
    #expect(lines.count == 2)
    #expect(lines.allSatisfy { $0.count <= 100 })
    #expect(lines.last?.hasPrefix("             words") == true)
  }

  @Test(arguments: [("", "abc", 3), ("kitten", "sitting", 3), ("same", "same", 0), ("ab", "", 2)])
  func areComparedLetterByLetter(_ a: String, _ b: String, _ distance: Int) {
    #expect(Spelling.distance(from: a, to: b) == distance)
  }
}
