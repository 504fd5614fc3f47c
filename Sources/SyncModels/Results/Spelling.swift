/// Suggests the intended word for a misspelt one.
package enum Spelling {
  /// The most similar valid word; `nil` if none is similar.
  package static func nearest(to word: String, among candidates: [String]) -> String? {
    let ranked = candidates.map { (word: $0, distance: distance(from: word, to: $0)) }
    guard let best = ranked.min(by: { ($0.distance, $0.word) < ($1.distance, $1.word) }),
      best.distance <= max(1, word.drop { $0 == "-" }.count / 3 + 1)
    else { return nil }
    return best.word
  }

  /// A sentence that suggests the most similar valid word, or lists all of them.
  ///
  /// - Parameter listing: The words before the list.
  package static func nearest(to word: String, among candidates: [String], _ listing: String) -> String {
    if let best = nearest(to: word, among: candidates) { return "did you mean \"\(best)\"?" }
    return "\(listing) \(candidates.joined(separator: ", "))."
  }

  /// The number of letters to insert, delete or replace to turn one word into another.
  package static func distance(from source: String, to target: String) -> Int {
    let target = Array(target)
    var row = Array(0...target.count)
    for (line, letter) in source.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for (column, other) in target.enumerated() {
        let replaced = diagonal + (letter == other ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[target.count]
  }
}
