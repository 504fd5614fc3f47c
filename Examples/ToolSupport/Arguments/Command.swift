import Foundation

/// A tool, or one command of a tool: its name, summary and options.
package struct Command: Sendable {
  /// The name on the command line.
  package let name: String
  /// The purpose, in one sentence.
  package let summary: String
  /// The options, in the order of the help. A tool's options apply to its commands too.
  package let options: [any DeclaredOption]
  /// The option of every tool that leaves out progress and notices.
  static let quiet = Option.flag(
    "quiet", "write no progress and no notices, only results, warnings and errors")
  /// The commands of a tool; none for a tool with a single purpose.
  package let commands: [Command]
  /// Example command lines, each with its meaning.
  package let examples: [(line: String, meaning: String)]

  /// Creates a tool with a single purpose, or one command of a tool with many.
  package init(
    _ name: String, _ summary: String, options: [any DeclaredOption] = [], commands: [Command] = [],
    examples: [(line: String, meaning: String)] = []
  ) {
    self.name = name
    self.summary = summary
    self.options = options
    self.commands = commands
    self.examples = examples
  }

  /// Parses the words after the tool's name on a command line.
  ///
  /// Options are given as `--name value` or `--name=value`, before or after the command's name.
  package func parse(_ words: [String]) throws(UsageError) -> Request {
    var reader = CommandLineReader(tool: self, words: words)
    return try reader.read()
  }

  /// Parses the process's command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  package func argumentsOrExit() -> Arguments {
    // A file that grows past its limit must be a reported error, not the end of the process. Nor
    // may the reader of a log end a sync by its own end.
    signal(SIGXFSZ, SIG_IGN)
    signal(SIGPIPE, SIG_IGN)
    do throws(UsageError) {
      switch try parse(CommandLine.words) {
      case .run(let arguments):
        StandardStream.error.isQuiet = arguments[Self.quiet]
        return arguments
      case .help(let text):
        StandardStream.output.write(text)
        ExitCode.success.endProcess()
      }
    } catch {
      refuse(error)
    }
  }

  /// Reports an invalid command line, and ends the process.
  ///
  /// Use it for invalid combinations of options. ``argumentsOrExit()`` reports the rest.
  package func refuse(_ error: UsageError) -> Never {
    StandardStream.error.line("\(name): \(error)\nsee `\(name) --help`")
    if CommandLine.arguments.contains("--json") {
      StandardStream.output.line(["error": "usage", "message": .string(error.description)] as JSON)
    }
    ExitCode.usage.endProcess()
  }
}

/// The request in a command line.
package enum Request: Sendable {
  case run(Arguments)
  case help(String)
}

/// A command line that was parsed and is valid.
package struct Arguments: Sendable {
  /// The command's name, for a tool that has commands.
  package let command: String?
  /// The texts given for each option, by its name.
  let texts: [String: [String]]

  /// The value given for an option, or its default.
  ///
  /// - Precondition: A required option is one of the command's own.
  package subscript<Value>(option: Option<Value>) -> Value {
    do throws(UsageError) {
      return try option.value(texts[option.name] ?? [])
    } catch {
      preconditionFailure("\(error): not an option of this command")
    }
  }
}
