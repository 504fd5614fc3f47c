import CanonicalSync
import SyncAdapters

/// Reads the words of a command line once, from left to right.
struct CommandLineReader {
  private let tool: Command
  private var words: ArraySlice<String>
  private var command: Command?
  private var texts: [String: [String]] = [:]

  init(tool: Command, words: [String]) {
    self.tool = tool
    self.words = words[...]
  }

  mutating func read() throws(UsageError) -> Request {
    while let word = words.popFirst() {
      if word == "--help" || word == "-h" { return .help(help) }
      if word == "--version" { return .help("\(tool.name) \(LibraryVersion.current)\n") }
      if word.hasPrefix("-") { try readOption(word) } else { try readCommand(word) }
    }
    if command == nil, !tool.commands.isEmpty {
      throw UsageError("a command is missing: \(tool.commands.map(\.name).joined(separator: ", "))")
    }
    try check()
    return .run(Arguments(command: command?.name, texts: texts))
  }

  private var help: String {
    command.map { $0.helpText(within: tool) } ?? tool.helpText()
  }

  /// The valid options so far: before a command is named, the options of all of them.
  private var known: [any DeclaredOption] {
    tool.options + (command.map(\.options) ?? tool.commands.flatMap(\.options)) + [Command.quiet]
  }

  private mutating func readCommand(_ word: String) throws(UsageError) {
    guard command == nil, !tool.commands.isEmpty else { throw UsageError("unexpected argument \(word)") }
    command = tool.commands.first { $0.name == word }
    if command == nil {
      let names = tool.commands.map(\.name)
      let near = Spelling.hint(for: word, among: names)
      let hint = near.isEmpty ? "; the commands are \(names.joined(separator: ", "))" : near
      throw UsageError("unknown command \(word)\(hint)")
    }
  }

  private mutating func readOption(_ word: String) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts[0])
    guard let option = known.first(where: { "--\($0.name)" == spelled }) else {
      let hint = Spelling.hint(for: spelled, among: known.map { "--\($0.name)" } + ["--help", "--version"])
      throw UsageError("unknown option \(spelled)\(hint)")
    }
    let text = try value(of: option, attached: parts.count > 1 ? String(parts[1]) : nil)
    if option.occurrence != .repeatable, option.placeholder != nil, texts[option.name] != nil {
      throw UsageError("--\(option.name) was given twice")
    }
    texts[option.name, default: []].append(text)
  }

  private mutating func value(
    of option: any DeclaredOption, attached: String?
  ) throws(UsageError) -> String {
    guard let placeholder = option.placeholder else {
      if let attached { throw UsageError("--\(option.name) takes no value, but \(attached) was given") }
      return ""
    }
    // A word that looks like an option is one: `--store --json` lacks the path. `--store=--json`
    // forces the value.
    let text = attached ?? (words.first?.hasPrefix("--") == false ? words.popFirst() : nil)
    guard let text, !text.isEmpty else { throw UsageError("--\(option.name) needs a value: \(placeholder)") }
    return text
  }

  private func check() throws(UsageError) {
    for option in known { try option.check(texts[option.name] ?? []) }
    let names = Set(known.map(\.name))
    if let stranger = texts.keys.filter({ !names.contains($0) }).min(), let command {
      throw UsageError("--\(stranger) is not an option of \(command.name)")
    }
  }
}
