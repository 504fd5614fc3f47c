/// A pass between two pages: the file stays open, so that a file that takes its name does not mix with it.
struct OpenPass: Sendable {
  private(set) var reading: FileReading
  /// As it was before the last page, for a request that is made again.
  private var before: FileReading

  /// Begins with a file that nothing has been read of.
  init(_ reading: FileReading) {
    self.reading = reading
    before = reading
  }

  /// Keeps what was read.
  mutating func advance(to reading: FileReading) {
    before = self.reading
    self.reading = reading
  }

  /// Turns to a position; `false` if it is neither where the last page ended nor where it began.
  mutating func turn(to position: FilePosition) -> Bool {
    if reading.position == position { return true }
    guard before.position == position else { return false }
    reading = before
    return true
  }
}
