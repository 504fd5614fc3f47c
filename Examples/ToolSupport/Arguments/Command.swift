import Foundation

/// A tool, or one command of a tool: what it is called, what it does and what it takes.
package struct Command: Sendable {
  /// The word that is typed.
  package let name: String
  /// What it does, in one sentence.
  package let summary: String
  /// Its options, in the order the help lists them; a tool's are its commands' as well.
  package let options: [any DeclaredOption]
  /// The commands of a tool; none for a tool that does one thing.
  package let commands: [Command]
  /// Command lines worth trying, each with what it does.
  package let examples: [(line: String, meaning: String)]

  /// A tool that does one thing, or one command of a tool that does many.
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

  /// Reads what follows the tool's name on a command line.
  ///
  /// Options are given as `--name value` or `--name=value`, before or after the command's name.
  package func parse(_ words: [String]) throws(UsageError) -> Request {
    var reader = CommandLineReader(tool: self, words: words)
    return try reader.read()
  }

  /// Reads the process's command line; asked for help, or given a mistake, it answers and ends the process itself.
  package func argumentsOrExit() -> Arguments {
    // A file that grows past its limit is an error to tell, and not the process's end.
    signal(SIGXFSZ, SIG_IGN)
    do throws(UsageError) {
      switch try parse(CommandLine.words) {
      case .run(let arguments): return arguments
      case .help(let text):
        StandardStream.output.write(text)
        ExitCode.success.endProcess()
      }
    } catch {
      refuse(error)
    }
  }

  /// Says what is wrong with a command line, and ends the process.
  ///
  /// For what only several options together get wrong; the rest is refused by ``argumentsOrExit()``.
  package func refuse(_ error: UsageError) -> Never {
    StandardStream.error.line("\(name): \(error)\nsee `\(name) --help`")
    ExitCode.usage.endProcess()
  }
}

/// What a command line asks for.
package enum Request: Sendable {
  case run(Arguments)
  case help(String)
}

/// A command line that has been read and found right.
package struct Arguments: Sendable {
  /// The command that was named, for a tool that has commands.
  package let command: String?
  /// What was given for each option, by its name.
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
