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
      let standing: Standing

      var endsTransaction: Bool { pages > 0 && standing != .broken }
    }

    /// What the checksums say of a frame.
    enum Standing: Hashable {
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
    private let file: Int32
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
      guard csqlite_kind_of_path(path) == 1, csqlite_is_empty(path) == 0 else { return nil }
      let file = DescriptorMargin.hold(1) { csqlite_open_to_read(path) } ?? -EMFILE
      // Another process may close the store meanwhile, and with it the log goes.
      if file == -ENOENT { return nil }
      guard file >= 0 else { throw Self.failure(SQLITE_CANTOPEN, -file) }
      do throws(SyncError) {
        guard let found = try Self.header(of: file) else {
          csqlite_close(file)
          return nil
        }
        header = found
      } catch {
        csqlite_close(file)
        throw error
      }
      self.file = file
      isWhole = header.isIntact
      (stored, counted) = (header.checksum, header.counted)
      bytes = []
    }

    /// Reads the header, or finds what it has said in the frames.
    private static func header(of file: Int32) throws(SyncError) -> LogHeader? {
      let bytes = try read(LogHeader.size, of: file, at: 0)
      guard bytes.count == LogHeader.size else { return nil }
      if let intact = LogHeader(bytes) { return intact }
      let size = LogHeader.frameSize + LogHeader.usualPageSize
      var place = LogHeader.size
      var last = try read(size, of: file, at: place)
      while last.count == size {
        place += size
        let next = try read(size, of: file, at: place)
        guard next.count == size else { return nil }
        let areFirst = place == LogHeader.size + size
        if let found = LogHeader(damaged: bytes, first: last, second: next, areFirst: areFirst) {
          return found
        }
        last = next
      }
      return nil
    }

    deinit { csqlite_close(file) }

    /// The bytes of the last frame's page.
    var pageBytes: ArraySlice<UInt8> { bytes[LogHeader.frameSize...] }

    /// Returns the next frame of the log's generation; `nil` at its end.
    ///
    /// Behind them, a log may have frames of an earlier generation, which SQLite writes over.
    mutating func next() throws(SyncError) -> Frame? {
      while true {
        let size = LogHeader.frameSize + header.pageSize
        bytes = try Self.read(size, of: file, at: LogHeader.size + count * size)
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

    private func described(as standing: Standing) -> Frame {
      Frame(
        number: count, page: bytes.number(at: 0), pages: bytes.number(at: 4),
        checksum: LogChecksum(storedIn: bytes[16..<24]), standing: standing)
    }

    private static func read(_ size: Int, of file: Int32, at place: Int) throws(SyncError) -> [UInt8] {
      var failure = 0
      let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        let read = csqlite_read(file, buffer.baseAddress, size, Int64(place))
        if read < 0 { failure = -read }
        count = max(0, read)
      }
      guard failure == 0 else { throw Self.failure(SQLITE_IOERR, Int32(failure)) }
      return bytes
    }

    private static func failure(_ code: Int32, _ systemError: Int32) -> SyncError {
      let failure = SQLiteFailure(code: code, systemError: systemError)
      if failure.systemAdvice != nil { return failure.error(during: "reading the log") }
      return SyncError(
        .storeUnreadable, during: "reading the log", "The log cannot be read.", underlying: failure)
    }
  }
#endif
