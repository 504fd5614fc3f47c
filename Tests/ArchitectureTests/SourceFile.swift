import CanonicalSyncTestProcesses
import Foundation

/// One Swift file of the package.
struct SourceFile: Sendable {
  /// The path from the package's root.
  let path: String
  let text: String

  /// The parts of the path.
  var components: [Substring] { path.split(separator: "/") }

  /// The name without the extension and without the part after a plus sign.
  var name: String {
    let file = components.last?.dropLast(".swift".count) ?? ""
    return String(file.prefix { $0 != "+" })
  }

  /// The target of a file in `Sources`, which names its directory; otherwise `nil`.
  var target: String? {
    components.count > 2 && components[0] == "Sources" ? String(components[1]) : nil
  }

  /// The lines of code. Comments and string literals are blank.
  var code: [Substring] {
    CodeMask.masked(text).split(separator: "\n", omittingEmptySubsequences: false)
  }
}

/// The files of the package.
enum PackageFiles {
  static let root = URL(filePath: #filePath).appending(path: "../../..").standardizedFileURL

  /// Every Swift file in some of the package's directories, build products excepted.
  static func swiftFiles(in directories: [String]) throws -> [SourceFile] {
    var files: [SourceFile] = []
    for directory in directories {
      let base = root.appending(path: directory)
      for path in try FileManager.default.subpathsOfDirectory(atPath: base.path).sorted()
      where path.hasSuffix(".swift") && !path.split(separator: "/").contains(where: { $0.hasPrefix(".") }) {
        files.append(
          SourceFile(
            path: "\(directory)/\(path)",
            text: try String(contentsOf: base.appending(path: path), encoding: .utf8)))
      }
    }
    return files
  }

  /// Whether the package is in a git repository.
  static var haveRepository: Bool {
    FileManager.default.fileExists(atPath: root.appending(path: ".git").path)
  }

  /// The tracked files and folders at the package's top, dotfiles excepted.
  ///
  /// Untracked stores may be there too.
  static func topLevel() throws -> Set<String> {
    let (_, paths) = try ChildProcess.run(["git", "-c", "safe.directory=*", "-C", root.path, "ls-files"])
    let names = String(decoding: paths, as: UTF8.self).split(separator: "\n").map { path in
      String(path.prefix { $0 != "/" })
    }
    return Set(names.filter { !$0.hasPrefix(".") })
  }

  /// The subfolders of a directory.
  static func folders(in directory: String) throws -> [String] {
    let base = root.appending(path: directory)
    return try FileManager.default.contentsOfDirectory(atPath: base.path).filter { name in
      var isDirectory: ObjCBool = false
      return FileManager.default.fileExists(
        atPath: base.appending(path: name).path, isDirectory: &isDirectory) && isDirectory.boolValue
    }
  }
}
