/// The pages of a pass that have arrived and are not in the store yet.
struct CommitQueue {
  /// The pages that are being committed.
  var committing: [PageCommit] = []
  /// The pages to commit together once those are in the store.
  var waiting: [PageCommit] = []

  /// The most bytes of memory for three or more uncommitted pages.
  static let bytesAhead = 4 << 20

  var isEmpty: Bool { committing.isEmpty && waiting.isEmpty }

  /// Whether another page may be fetched.
  ///
  /// - Parameter ahead: The number of pages besides one that may be uncommitted.
  func hasRoom(ahead: Int) -> Bool {
    let pages = committing.count + waiting.count
    guard pages <= ahead else { return false }
    return pages < 2 || (committing + waiting).reduce(0) { $0 + $1.size } < Self.bytesAhead
  }

  /// Returns the pages to commit now; `nil` while others are being committed.
  mutating func commit() -> [PageCommit]? {
    guard committing.isEmpty, !waiting.isEmpty else { return nil }
    swap(&committing, &waiting)
    return committing
  }
}
