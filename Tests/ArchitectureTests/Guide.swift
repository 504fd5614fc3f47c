import Foundation

/// A guide in Markdown: the README, or a page of Docs or of a product's catalogue.
struct Guide: Sendable {
  /// The path from the package's root.
  let path: String
  let text: String

  /// The lines outside of code blocks.
  private var prose: [Substring] {
    var isCode = false
    return text.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
      guard line.drop(while: { $0 == " " }).hasPrefix("```") else { return !isCode }
      isCode.toggle()
      return false
    }
  }

  /// The files that the prose names in code spans, with their folders and in order.
  var files: [String] {
    prose.flatMap { line in
      line.matches(of: #/`((?:[\w.+-]+/)+[\w.+-]+\.(?:swift|md|json|patch|h))`/#).map { String($0.1) }
    }
  }

  /// The code spans of the prose, in order.
  var spans: [Substring] {
    prose.flatMap { line in line.matches(of: #/`([^`]+)`/#).map(\.1) }
  }

  /// The part under a heading; `nil` without such a heading.
  func section(_ heading: String) -> Guide? {
    guard let start = text.range(of: "\n## \(heading)\n") else { return nil }
    let rest = text[start.upperBound...]
    let end = rest.range(of: "\n## ")?.lowerBound ?? rest.endIndex
    return Guide(path: path, text: String(rest[..<end]))
  }
}

extension PackageFiles {
  /// The README, the pages of Docs, and those of the catalogues of products.
  static func guides() throws -> [Guide] {
    let pages = try FileManager.default.contentsOfDirectory(atPath: root.appending(path: "Docs").path)
      .filter { $0.hasSuffix(".md") }.sorted().map { "Docs/\($0)" }
    let catalogues = try FileManager.default.subpathsOfDirectory(
      atPath: root.appending(path: "Sources").path
    ).filter { $0.contains(".docc/") && $0.hasSuffix(".md") }.sorted().map { "Sources/\($0)" }
    return try (["README.md"] + pages + catalogues).map { path in
      Guide(path: path, text: try String(contentsOf: root.appending(path: path), encoding: .utf8))
    }
  }

  /// Whether a file exists that a guide names, from the package's root or from Sources.
  static func exists(_ path: String) -> Bool {
    [path, "Sources/\(path)"].contains { path in
      FileManager.default.fileExists(atPath: root.appending(path: path).path)
    }
  }
}
