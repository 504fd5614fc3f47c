#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// The frames of a write-ahead log, read from its file without SQLite.
  ///
  /// SQLite reads a log up to the first frame whose checksum is wrong, because a process that dies
  /// may leave such a frame at the end. Damage then hides the transactions behind it. This walk
  /// goes on behind it: each checksum continues the one before, so a frame shows by itself whether
  /// it follows its neighbour. <https://www.sqlite.org/fileformat2.html#walformat>
  struct LogFrames: ~Copyable {
    /// One frame: a page as a transaction has left it.
    struct Frame: Hashable {
      /// The frame's number in the file, from 1 on.
      let number: Int
      /// The page's number.
      let page: UInt32
      /// The file's pages after the transaction that the frame ends; 0 inside one.
      let pages: UInt32
      let checksum: LogChecksum
      let integrity: Integrity

      var endsTransaction: Bool { pages > 0 && integrity != .broken }
    }

    /// What the checksums say of a frame.
    enum Integrity: Hashable {
      /// It is intact, and so is every frame before it.
      case intact
      /// It is not as it was written.
      case broken
      /// One of its bits was flipped, and is as it was written. SQLite ignores it.
      case mended
      /// It is intact, behind a damaged one. SQLite ignores it.
      case hidden
    }

    /// The log's header, or what a log has whose header is damaged.
    let header: LogHeader
    private let file: LogBytes
    private var count = 0
    private var isWhole: Bool
    // The checksums that the next frame may continue: as stored in this one, and as counted from
    // its bytes. Damage makes one of them wrong.
    private var stored: LogChecksum
    private var counted: LogChecksum
    private var bytes: [UInt8]

    /// Opens a log's file; `nil` if there is none, or nothing but noise.
    ///
    /// - Throws: `storeUnreadable` if the file cannot be read.
    init?(_ path: String) throws(SyncError) {
      guard let file = try LogBytes(path), let header = try Self.header(of: file) else { return nil }
      self.header = header
      self.file = file
      isWhole = header.isIntact
      (stored, counted) = (header.checksum, header.counted)
      bytes = []
    }

    /// Reads the header, or finds what it has said in the frames.
    private static func header(of file: borrowing LogBytes) throws(SyncError) -> LogHeader? {
      let bytes = try file.read(LogHeader.size, at: 0)
      guard bytes.count == LogHeader.size else { return nil }
      if let intact = LogHeader(bytes) { return intact }
      let size = LogHeader.frameSize + LogHeader.usualPageSize
      var place = LogHeader.size
      var last = try file.read(size, at: Int64(place))
      while last.count == size {
        place += size
        let next = try file.read(size, at: Int64(place))
        guard next.count == size else { return nil }
        let areFirst = place == LogHeader.size + size
        if let found = LogHeader(damaged: bytes, first: last, second: next, areFirst: areFirst) {
          return found
        }
        last = next
      }
      return nil
    }

    /// The bytes of the last frame's page.
    var pageBytes: ArraySlice<UInt8> { bytes[LogHeader.frameSize...] }

    /// Returns the next frame of the log's generation; `nil` at its end.
    ///
    /// Behind them, a log may have frames of an earlier generation, which SQLite writes over.
    mutating func next() throws(SyncError) -> Frame? {
      while true {
        let size = LogHeader.frameSize + header.pageSize
        bytes = try file.read(size, at: Int64(LogHeader.size + count * size))
        guard bytes.count == size else { return nil }
        count += 1
        let own = LogChecksum(storedIn: bytes[16..<24])
        let isOfGeneration = bytes[8..<16].elementsEqual(header.salts)
        let previous = stored == counted ? [stored] : [stored, counted]
        let sums = isOfGeneration ? previous.map { $0.addingFrame(bytes, header.order) } : []
        (stored, counted) = (own, own)
        if sums.contains(own) { return described(as: isWhole ? .intact : .hidden) }
        isWhole = false
        let (frame, log) = (bytes, header)
        if let mended = previous.lazy.compactMap({ log.mended(frame, after: $0) }).first {
          bytes = mended
          return described(as: .mended)
        }
        guard let sum = sums.first else { continue }
        counted = sum
        return described(as: .broken)
      }
    }

    private func described(as integrity: Integrity) -> Frame {
      Frame(
        number: count, page: bytes.number(at: 0), pages: bytes.number(at: 4),
        checksum: LogChecksum(storedIn: bytes[16..<24]), integrity: integrity)
    }
  }
#endif
