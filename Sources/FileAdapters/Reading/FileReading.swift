import SyncModels

/// One file during a pass: open, identified by its content, and read up to a position.
///
/// Lines are cut from blocks and share their storage. All bytes are digested a second time as they
/// are cut. At the end this proves that the listed content is the content that names the pass.
struct FileReading: Sendable {
  /// The sizes of blocks, lines and pages.
  struct Limits: Sendable {
    var blockBytes = 256 << 10
    var lineBytes = 16 << 20
    var pageBytes = 8 << 20
    /// The number of bytes kept of a line that is too long.
    var prefixBytes = 4 << 10
  }

  /// A line, without its end.
  enum Line {
    case whole(ArraySlice<UInt8>)
    /// A line past the limit: its beginning, and its length.
    case tooLong(ArraySlice<UInt8>, length: Int)
  }

  let survey: FileSurvey
  private(set) var position: FilePosition
  private let file: FileDescriptor
  private var stamp: FileDescriptor.Stamp
  private let limits: Limits
  private var digest: XXH64
  /// The number of bytes that ``digest`` covers.
  private var digested: Int
  private var block: [UInt8] = []
  private var blockStart = 0

  /// Starts at the first line.
  init(_ file: FileDescriptor, _ survey: FileSurvey, stamp: FileDescriptor.Stamp, limits: Limits) {
    let start = FilePosition(content: survey.content, offset: 0, line: 0)
    self.init(file, survey, from: start, digest: XXH64(), stamp: stamp, limits: limits)
  }

  /// Starts at a position of a file that was surveyed with the position's offset.
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

  /// Whether the whole file has been read.
  var isAtEnd: Bool { position.offset >= survey.length }

  /// Whether the file still has the surveyed content.
  ///
  /// An unchanged size and modification time count as proof. Otherwise the file is surveyed again.
  mutating func isStillTheSame() throws(FileDescriptor.Failure) -> Bool {
    let now = try file.stamp()
    guard now != stamp else { return true }
    let again = try FileSurvey(of: file, prefixUpTo: position.offset)
    guard again.content == survey.content, let prefix = again.prefix else { return false }
    // Bytes that were read ahead may come from the middle of a write.
    (stamp, digest, digested) = (now, prefix, position.offset)
    (block, blockStart) = ([], position.offset)
    return true
  }

  /// At the end, whether the bytes that were cut into lines equal the surveyed ones.
  func isVerified() -> Bool {
    digested == survey.length && ContentName(digest: digest, length: digested) == survey.content
  }

  /// Reads nonblank lines up to a count, a full page or the file's end.
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
      // The block ends within the line: read again from the line's beginning, with room for twice
      // as much.
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

  /// Skips a line without a known end, a block at a time.
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

  /// Digests the bytes that were cut from the block since the last call.
  private mutating func digestConsumed() {
    guard position.offset > digested else { return }
    let range = digested - blockStart..<position.offset - blockStart
    block.withUnsafeBytes { digest.update(UnsafeRawBufferPointer(rebasing: $0[range])) }
    digested = position.offset
  }
}

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
