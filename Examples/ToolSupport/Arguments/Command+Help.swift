import CanonicalSync

extension Command {
  /// The text of `--help`: usage, summary, commands, options, exit codes and examples.
  ///
  /// - Parameter tool: The tool of this command, whose options it shares.
  func helpText(within tool: Command? = nil) -> String {
    let options = self.options + (tool?.options ?? []) + [Self.quiet]
    let optionRows =
      options.map { ($0.spelling, $0.help) } + [
        ("--help", "print this help"), ("--version", "print the version"),
      ]
    var sections = [
      usage(within: tool, options: options),
      Self.wrapped(summary, indent: 0, width: Self.width),
      Self.listing("commands", commands.map { ($0.name, $0.summary) }),
      Self.listing("options", optionRows),
      Self.listing("exit codes", ExitCode.allCases.map { (String($0.rawValue), $0.meaning) }),
    ]
    let lines = examples.map {
      "  \(Self.command($0.line, indent: 6))\n      \(Self.wrapped($0.meaning, indent: 6, width: Self.width))"
    }
    sections.append(lines.isEmpty ? "" : "examples:\n" + lines.joined(separator: "\n"))
    return sections.filter { !$0.isEmpty }.joined(separator: "\n\n") + "\n"
  }

  /// The width of the terminal, within limits of good reading; 100 columns elsewhere.
  private static var width: Int {
    StandardStream.output.isTerminal ? min(max(StandardStream.output.columns, 40), 100) : 100
  }

  private func usage(within tool: Command?, options: [any DeclaredOption]) -> String {
    let words =
      [tool?.name, name, commands.isEmpty ? nil : "COMMAND"].compactMap { $0 }
      + options.filter { $0.occurrence == .required }.map(\.spelling) + ["[options]"]
    return Self.wrapped("usage: " + words.joined(separator: " "), indent: 7, width: Self.width)
  }

  /// A list of terms, with their meanings in a second column.
  private static func listing(_ title: String, _ rows: [(term: String, meaning: String)]) -> String {
    guard let widest = rows.map(\.term.count).max() else { return "" }
    let column = widest + 4
    let lines = rows.map { row in
      "  " + row.term.padded(to: widest + 2) + wrapped(row.meaning, indent: column, width: width)
    }
    return "\(title):\n" + lines.joined(separator: "\n")
  }

  /// A command line for a shell, broken before its options where the terminal's width demands it.
  package static func command(_ line: String, indent: Int) -> String {
    guard let width = StandardStream.output.width else { return line }
    var lines: [String] = []
    for part in line.split(separator: #/ (?=--|\| )/#) {
      // The space and the backslash that end a line need room too.
      if let last = lines.last, indent + last.count + part.count + 3 <= width {
        lines[lines.count - 1] = "\(last) \(part)"
      } else {
        lines.append(String(part))
      }
    }
    return lines.joined(separator: " \\\n" + String(repeating: " ", count: indent))
  }

  /// Text wrapped between words, with every line but the first indented.
  package static func wrapped(_ text: String, indent: Int, width: Int) -> String {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let line = lines.last, indent + line.count + 1 + word.count <= width {
        lines[lines.count - 1] = "\(line) \(word)"
      } else {
        lines.append(String(word))
      }
    }
    return lines.joined(separator: "\n" + String(repeating: " ", count: indent))
  }
}
