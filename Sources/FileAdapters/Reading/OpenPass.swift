/// A pass between two pages, with its file still open.
///
/// Another file that takes the name does not mix with it.
struct OpenPass: Sendable {
  private(set) var reading: FileReading
  /// The state before the last page, for a repeated request.
  private var before: FileReading

  /// Starts with an unread file.
  init(_ reading: FileReading) {
    self.reading = reading
    before = reading
  }

  /// Stores the state after a page.
  mutating func advance(to reading: FileReading) {
    before = self.reading
    self.reading = reading
  }

  /// Moves to a position: the end or the beginning of the last page.
  ///
  /// Returns `false` for any other position.
  mutating func turn(to position: FilePosition) -> Bool {
    if reading.position == position { return true }
    guard before.position == position else { return false }
    reading = before
    return true
  }
}
