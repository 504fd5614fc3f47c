import SyncModels

extension Spelling {
  /// `; did you mean …?` with the most similar valid word, or nothing if none is similar.
  static func hint(for word: String, among candidates: [String]) -> String {
    nearest(to: word, among: candidates).map { "; did you mean \($0)?" } ?? ""
  }
}
