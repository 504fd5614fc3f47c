#if SQLite
  import SyncModels

  /// A place in a log behind which SQLite ignores whole transactions.
  struct LogDamage: Hashable {
    /// The number of the damaged frame; 0 for the log's header.
    let frame: Int
    /// Whether the frames before it end with a whole transaction.
    ///
    /// The frames behind it may then be older than those before it: a process that has read the log
    /// up to some damage goes on there, over the first of the frames that it ignores.
    let isBehindCommit: Bool
    private let salts: [UInt8]

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
      guard var frames = try LogFrames(path) else { return nil }
      var (intact, isBehindCommit) = (0, false)
      while let frame = try frames.next() {
        if frame.standing == .intact { (intact, isBehindCommit) = (frame.number, frame.endsTransaction) }
        guard frame.standing == .hidden, frame.endsTransaction else { continue }
        return LogDamage(
          frame: frames.header.isIntact ? intact + 1 : 0, isBehindCommit: isBehindCommit,
          salts: frames.header.salts)
      }
      return nil
    }
  }
#endif
