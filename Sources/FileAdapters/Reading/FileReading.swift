import SyncModels

/// One file on the way through a pass: open, named by its content, and read up to a position.
///
/// Lines are cut out of blocks and share their storage. All bytes are digested a second time as they are cut, so at the
/// end it is certain that what was listed is what the pass was named after.
struct FileReading: Sendable {
  /// How much is read at once, and how much a line and a page may hold.
  struct Limits: Sendable {
    var blockBytes = 256 << 10
    var lineBytes = 16 << 20
    var pageBytes = 8 << 20
    /// How much is kept of a line that is too long.
    var prefixBytes = 4 << 10
  }

  /// A line, without its end.
  enum Line {
    case whole(ArraySlice<UInt8>)
    /// One past the limit: how it begins, and its length.
    case tooLong(ArraySlice<UInt8>, length: Int)
  }

  let survey: FileSurvey
  private(set) var position: FilePosition
  private let file: FileDescriptor
  private var stamp: FileDescriptor.Stamp
  private let limits: Limits
  private var digest: XXH64
  /// How far ``digest`` has come.
  private var digested: Int
  private var block: [UInt8] = []
  private var blockStart = 0

  /// Begins with the first line.
  init(_ file: FileDescriptor, _ survey: FileSurvey, stamp: FileDescriptor.Stamp, limits: Limits) {
    let start = FilePosition(content: survey.content, offset: 0, line: 0)
    self.init(file, survey, from: start, digest: XXH64(), stamp: stamp, limits: limits)
  }

  /// Goes on at a position of a file that was surveyed with the position's offset.
  init(
    _ file: FileDescriptor, _ survey: FileSurvey, from position: FilePosition, digest: XXH64,
    stamp: FileDescriptor.Stamp, limits: Limits
  ) {
    self.file = file
    self.survey = survey
    self.position = position
    self.digest = digest
    self.stamp = stamp
    self.limits = limits
    digested = position.offset
    if position.offset == 0, survey.hasByteOrderMark {
      FileSurvey.byteOrderMark.withUnsafeBytes { self.digest.update($0) }
      digested = FileSurvey.byteOrderMark.count
      self.position.offset = digested
    }
  }

  /// Whether everything was read.
  var isAtEnd: Bool { position.offset >= survey.length }

  /// Whether the file still holds what was surveyed.
  ///
  /// While its size and modification time are as they were, it is taken to; otherwise it is surveyed again.
  mutating func isStillTheSame() throws(FileDescriptor.Failure) -> Bool {
    let now = try file.stamp()
    guard now != stamp else { return true }
    let again = try FileSurvey(of: file, prefixUpTo: position.offset)
    guard again.content == survey.content, let prefix = again.prefix else { return false }
    // What was read ahead may have been read while it was written.
    (stamp, digest, digested) = (now, prefix, position.offset)
    (block, blockStart) = ([], position.offset)
    return true
  }

  /// At the end: whether the bytes that were cut into lines are those that were surveyed.
  func isVerified() -> Bool {
    digested == survey.length && ContentName(digest: digest, length: digested) == survey.content
  }

  /// Reads lines that hold something, until there are so many, or a page is full, or the file ends.
  ///
  /// - Parameter body: Takes each line, with its number from 1.
  mutating func readLines(
    limit: Int, _ body: (Line, _ number: Int) -> Void
  ) throws(FileDescriptor.Failure) {
    let start = position.offset
    var count = 0
    while count < limit, position.offset - start < limits.pageBytes, let line = try nextLine() {
      if case .whole(let bytes) = line, bytes.allSatisfy(\.isBlank) { continue }
      body(line, position.line)
      count += 1
    }
    digestConsumed()
  }

  private mutating func nextLine() throws(FileDescriptor.Failure) -> Line? {
    while !isAtEnd {
      let start = position.offset - blockStart
      let available = block.count - start
      if available > 0, let end = block.withUnsafeBytes({ $0.firstNewline(from: start) }) {
        return cut(start..<end, endingWith: 1)
      }
      if available > 0, blockStart + block.count == survey.length {
        return cut(start..<block.count, endingWith: 0)
      }
      if available > limits.lineBytes { return try skipLongLine(from: start) }
      // The block ends within the line: read on from the line's beginning, with room for twice as much of it.
      let wanted = max(limits.blockBytes, min(2 * available, limits.lineBytes + 1))
      try load(at: position.offset, count: wanted)
    }
    return nil
  }

  private mutating func cut(_ range: Range<Int>, endingWith terminator: Int) -> Line {
    position.offset = blockStart + range.upperBound + terminator
    position.line += 1
    var bytes = block[range]
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard bytes.count > limits.lineBytes else { return .whole(bytes) }
    return .tooLong(bytes.prefix(limits.prefixBytes), length: range.count)
  }

  /// Steps over a line whose end is not in sight, a block at a time.
  private mutating func skipLongLine(from start: Int) throws(FileDescriptor.Failure) -> Line {
    let prefix = Payload(block[start...].prefix(limits.prefixBytes)).detached().bytes
    let lineStart = position.offset
    var end = blockStart + block.count
    while true {
      position.offset = end
      guard end < survey.length else { break }
      try load(at: end, count: limits.blockBytes)
      if let newline = block.withUnsafeBytes({ $0.firstNewline(from: 0) }) {
        end = blockStart + newline
        position.offset = end + 1
        break
      }
      end = blockStart + block.count
    }
    position.line += 1
    return .tooLong(prefix, length: end - lineStart)
  }

  private mutating func load(at offset: Int, count: Int) throws(FileDescriptor.Failure) {
    digestConsumed()
    let wanted = min(count, survey.length - offset)
    let bytes = try file.read(wanted, at: offset)
    guard bytes.count == wanted else { throw .shortened }
    block = bytes
    blockStart = offset
  }

  /// Digests what was cut out of the block since the last time.
  private mutating func digestConsumed() {
    guard position.offset > digested else { return }
    let range = digested - blockStart..<position.offset - blockStart
    block.withUnsafeBytes { digest.update(UnsafeRawBufferPointer(rebasing: $0[range])) }
    digested = position.offset
  }
}
