#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// A place in a log behind which SQLite ignores whole transactions.
  struct LogDamage: Hashable {
    /// The number of the damaged frame; 0 for the log's header.
    let frame: Int
    /// Whether the frames behind it may be older than those before it.
    ///
    /// A process that has read the log up to some damage goes on behind the last whole transaction,
    /// over the first of the frames that it ignores. A damaged frame that continues those before it
    /// shows that no process has.
    let mayHideOlder: Bool
    /// The frame that ends the first ignored transaction; `nil` if none can be read.
    let commit: Int?
    /// The bytes from the damage to the end of the last ignored transaction.
    let ignored: Range<Int64>

    /// A log of which nothing can be read.
    static func unreadable(_ size: Int64) -> LogDamage {
      LogDamage(frame: 0, mayHideOlder: false, commit: nil, ignored: 0..<size)
    }

    var isUnreadable: Bool { commit == nil }

    /// Whether SQLite reads past it, in a transaction of a connection.
    ///
    /// While a process lives that knows the transactions behind it, SQLite ignores none of them.
    func isPassed(by connection: Connection) -> Bool {
      csqlite_known_frames(connection.handle) >= commit ?? 1
    }

    /// Whether the file has a page as a transaction behind the damage has left it.
    ///
    /// Only a log that has reached the disk is copied into the file, so after a power failure it
    /// has none.
    ///
    /// - Complexity: O(*n*) in the bytes of the log.
    static func hasReachedFile(of connection: Connection, fromLog path: String) throws(SyncError) -> Bool {
      guard var frames = try LogFrames(path) else { return false }
      var read: [UInt32: Int] = [:]
      while let frame = try frames.next() {
        let page = Array(frames.pageBytes)
        switch frame.integrity {
        case .intact: read[frame.page] = page.hashValue
        case .mended, .hidden:
          if read[frame.page] != page.hashValue, connection.page(frame.page, of: page.count) == page {
            return true
          }
        case .broken: break
        }
      }
      return false
    }

    /// Finds the place in a log's file; `nil` in a log without such a place.
    ///
    /// A process may write the log meanwhile. Two walks then find different places, or none, so
    /// only a place that is found twice counts.
    ///
    /// - Complexity: O(*n*) in the bytes of the log.
    static func find(inLog path: String) throws(SyncError) -> LogDamage? {
      var last: LogDamage?
      for _ in 0..<maximumWalks {
        guard let found = try walk(path) else { return nil }
        if let last, last.frame == found.frame, last.commit == found.commit { return found }
        last = found
      }
      return nil
    }

    private static let maximumWalks = 16

    private static func walk(_ path: String) throws(SyncError) -> LogDamage? {
      guard var frames = try LogFrames(path) else {
        // A log without a frame has nothing to lose.
        let size = csqlite_size(path)
        return size > LogHeader.size ? .unreadable(size) : nil
      }
      var (intact, mayHideOlder) = (0, frames.header.isConjectured)
      var found: LogDamage?
      let size = Int64(LogHeader.frameSize + frames.header.pageSize)
      while let frame = try frames.next() {
        switch frame.integrity {
        case .intact: (intact, mayHideOlder) = (frame.number, frame.endsTransaction)
        case .mended where frame.number == intact + 1 && found == nil:
          mayHideOlder = frames.header.isConjectured
        case .mended, .hidden, .broken: break
        }
        guard frame.integrity != .intact, frame.endsTransaction else { continue }
        let end = Int64(LogHeader.size) + Int64(frame.number) * size
        let start = frames.header.isIntact ? Int64(LogHeader.size) + Int64(intact) * size : 0
        found = LogDamage(
          frame: frames.header.isIntact ? intact + 1 : 0, mayHideOlder: mayHideOlder,
          commit: found?.commit ?? frame.number, ignored: start..<end)
      }
      return found
    }
  }

  extension Connection {
    /// A page of the file, without the log; `nil` if it cannot be read.
    fileprivate func page(_ number: UInt32, of size: Int) -> [UInt8]? {
      var page = [UInt8](repeating: 0, count: size)
      let place = (Int64(number) - 1) * Int64(size)
      return csqlite_read_file(handle, &page, Int32(clamping: size), place) == SQLITE_OK ? page : nil
    }
  }
#endif
