#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The whole transactions of a log that SQLite cannot read.
  ///
  /// SQLite reads a log up to the first frame whose checksum is wrong, because a process that dies
  /// may leave such a frame at the end. In the middle it hides the transactions behind it, and the
  /// next write goes over them. <https://www.sqlite.org/fileformat2.html#the_write_ahead_log>
  struct UnreadCommits: Equatable {
    /// The bytes from the first unreadable frame to the end of the last transaction.
    let bytes: Range<Int64>

    private static let headerSize: Int64 = 32
    /// The bytes of a frame: its own header, and a page of a store.
    private static let frameSize: Int64 = 24 + 4096
    private static let maximumWalks = 16

    /// Finds the transactions in a log's file; `nil` in a log without such.
    ///
    /// A process may write the log meanwhile. Two walks then find different places, or none, so
    /// only a place that is found twice counts.
    ///
    /// - Throws: `storeUnreadable` if the log cannot be read.
    /// - Complexity: O(*n*) in the bytes of the log.
    static func find(inLog path: String) throws(SyncError) -> UnreadCommits? {
      var last: UnreadCommits?
      for _ in 0..<maximumWalks {
        guard let found = try walk(path) else { return nil }
        if found == last { return found }
        last = found
      }
      return nil
    }

    private static func walk(_ path: String) throws(SyncError) -> UnreadCommits? {
      guard csqlite_is_empty(path) == 0, let log = try LogFile(path) else { return nil }
      let header = try log.read(headerSize, at: 0)
      guard header.count == headerSize else { return nil }
      let order = Order(magic: header.number(at: 0))
      var sum = Checksum().adding(header[..<24], order)
      let isIntact =
        header.number(at: 0) & ~1 == 0x377F_0682 && header.number(at: 4) == 3_007_000
        && sum.bytes == header[24...]
      var place = headerSize
      var frame = try log.read(frameSize, at: place)
      // Frames of earlier generations have other salts, and their pages are in the file.
      let salts = isIntact ? header[16..<24] : frame.dropFirst(8).prefix(8)
      var start = isIntact ? nil : Int64(0)
      var end: Int64?
      while frame.count == frameSize {
        if start == nil {
          let next = sum.adding(frame[..<8], order).adding(frame[24...], order)
          if frame[8..<16].elementsEqual(salts), next.bytes == frame[16..<24] {
            sum = next
          } else {
            start = place
          }
        } else if frame[8..<16].elementsEqual(salts), frame.number(at: 4) != 0 {
          // The last frame of a transaction has the number of the file's pages.
          end = place + frameSize
        }
        place += frameSize
        frame = try log.read(frameSize, at: place)
      }
      guard let start, let end else { return nil }
      return UnreadCommits(bytes: start..<end)
    }

    /// Whether two logs have the same bytes in the place.
    ///
    /// A log that cannot be read has not.
    func areAlike(in log: String, and other: String) -> Bool {
      do throws(SyncError) {
        guard let log = try LogFile(log), let other = try LogFile(other) else { return false }
        for start in stride(from: bytes.lowerBound, to: bytes.upperBound, by: 1 << 20) {
          let count = min(bytes.upperBound - start, 1 << 20)
          guard try log.read(count, at: start) == other.read(count, at: start) else { return false }
        }
        return true
      } catch {
        return false
      }
    }
  }

  /// The bytes of a log's file, read beside SQLite, which has no locks of it.
  private struct LogFile: ~Copyable {
    private let file: Int32

    /// Opens a log; `nil` if there is none.
    init?(_ path: String) throws(SyncError) {
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(path) } ?? -EMFILE
      // Another process may close the store meanwhile, and with it the log goes.
      if file == -ENOENT { return nil }
      guard file >= 0 else { throw FileCopy.unreadable(-file, "reading the log") }
      self.file = file
    }

    deinit { csqlite_close(file) }

    /// Reads so many bytes, or fewer at the end of the file.
    func read(_ length: Int64, at place: Int64) throws(SyncError) -> [UInt8] {
      var failure = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
        let read = csqlite_read(file, buffer.baseAddress, Int(length), place)
        if read < 0 { failure = -read }
        count = max(0, read)
      }
      if failure != 0 { throw FileCopy.unreadable(Int32(failure), "reading the log") }
      return bytes
    }
  }

  /// The order of the bytes in the numbers that a checksum adds.
  private enum Order {
    case highestFirst, lowestFirst

    init(magic: UInt32) { self = magic == 0x377F_0683 ? .highestFirst : .lowestFirst }
  }

  /// The checksum of a log up to some place: two numbers that go on from frame to frame.
  private struct Checksum {
    private var a: UInt32 = 0
    private var b: UInt32 = 0

    var bytes: ArraySlice<UInt8> {
      [a, b].flatMap { number in withUnsafeBytes(of: number.bigEndian) { Array($0) } }[...]
    }

    /// Returns the checksum behind some bytes, a multiple of eight.
    func adding(_ bytes: ArraySlice<UInt8>, _ order: Order) -> Checksum {
      var sum = self
      bytes.withUnsafeBytes { bytes in
        func word(_ place: Int) -> UInt32 {
          let word = bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)
          return order == .lowestFirst ? UInt32(littleEndian: word) : UInt32(bigEndian: word)
        }
        for place in stride(from: 0, to: bytes.count & ~7, by: 8) {
          sum.a &+= word(place) &+ sum.b
          sum.b &+= word(place + 4) &+ sum.a
        }
      }
      return sum
    }
  }

  extension [UInt8] {
    /// The number of four bytes at a place, the highest byte first.
    fileprivate func number(at place: Int) -> UInt32 {
      self[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
    }
  }
#endif
