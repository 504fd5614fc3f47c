#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// A place in a log behind which SQLite ignores whole transactions.
  struct LogDamage: Hashable {
    /// A log of which nothing can be read.
    static let unreadable = LogDamage(frame: 0, mayHideOlder: false, commit: nil)

    /// The number of the damaged frame; 0 for the log's header.
    let frame: Int
    /// Whether the frames behind it may be older than those before it.
    ///
    /// A process that has read the log up to some damage goes on behind the last whole transaction,
    /// over the first of the frames that it ignores. A damaged frame that continues those before it
    /// shows that no process has.
    let mayHideOlder: Bool
    /// The end of the first ignored transaction; `nil` if no frame can be read.
    let commit: Commit?

    /// A frame that ends a transaction.
    struct Commit: Hashable {
      let number: Int
      let checksum: LogChecksum
    }

    var isUnreadable: Bool { commit == nil }

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
        if found == last { return found }
        last = found
      }
      return nil
    }

    private static let maximumWalks = 16

    private static func walk(_ path: String) throws(SyncError) -> LogDamage? {
      guard var frames = try LogFrames(path) else {
        // A log without a frame has nothing to lose.
        return csqlite_size(path) > LogHeader.size ? .unreadable : nil
      }
      var (intact, mayHideOlder) = (0, frames.header.isConjectured)
      while let frame = try frames.next() {
        switch frame.standing {
        case .intact: (intact, mayHideOlder) = (frame.number, frame.endsTransaction)
        case .mended where frame.number == intact + 1: mayHideOlder = frames.header.isConjectured
        case .mended, .hidden, .broken: break
        }
        guard frame.standing != .intact, frame.endsTransaction else { continue }
        return LogDamage(
          frame: frames.header.isIntact ? intact + 1 : 0, mayHideOlder: mayHideOlder,
          commit: Commit(number: frame.number, checksum: frame.checksum))
      }
      return nil
    }
  }
#endif
