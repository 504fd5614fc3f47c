import Foundation

extension CommandLine {
  /// The words after the tool's name, as they were given.
  ///
  /// - Throws: ``UsageError`` for a word that is not UTF-8. Swift would repair it, and a path would
  ///   name another file.
  static var words: [String] {
    get throws(UsageError) {
      var words: [String] = []
      for place in 1..<max(1, Int(argc)) {
        guard let bytes = unsafeArgv[place] else { break }
        guard let word = String(validatingCString: bytes) else {
          throw UsageError("argument \(place) is not UTF-8: \(String(cString: bytes))")
        }
        words.append(word)
      }
      return words
    }
  }
}
