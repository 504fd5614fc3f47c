#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels

  /// Writes a log anew so that SQLite reads the transactions behind damaged frames too.
  ///
  /// A damaged frame that cannot be mended stays if it looks like a page: most of its rows can be
  /// read. Its transaction becomes part of the next one.
  struct LogRepair {
    private let target: Int32
    private let order: LogChecksum.Order
    private var place = 0
    private var checksum: LogChecksum

    /// Writes the whole transactions of a log, and returns how many frames remain damaged.
    ///
    /// - Parameter target: The path of the new log; there is none yet.
    static func write(_ path: String, to target: String) throws(SyncError) -> Int {
      guard let extent = try Extent(path), var frames = try LogFrames(path) else { return 0 }
      let file = DescriptorMargin.hold(1) { csqlite_open_private(target) } ?? -EMFILE
      guard file >= 0 else { throw SQLiteFailure.ofCopy(-file, during: SalvageOpening.operation) }
      defer { csqlite_close(file) }
      var repair = try LogRepair(frames.header, to: file)
      var damaged = extent.lastCommit
      while let frame = try frames.next(), frame.number <= extent.lastCommit {
        if frame.integrity != .broken { damaged -= 1 }
        if frame.integrity != .broken || extent.isPlausible(frame, frames.pageBytes) {
          try repair.add(frame, frames.pageBytes, salts: frames.header.salts)
        }
      }
      return damaged
    }

    private init(_ header: LogHeader, to target: Int32) throws(SyncError) {
      self.target = target
      let bytes = header.repaired
      order = header.isIntact ? header.order : .lowestFirst
      checksum = LogChecksum(storedIn: bytes[24..<32])
      try write(bytes)
    }

    private mutating func add(
      _ frame: LogFrames.Frame, _ page: ArraySlice<UInt8>, salts: [UInt8]
    ) throws(SyncError) {
      var bytes = [UInt8](repeating: 0, count: 8)
      bytes.set(frame.page, at: 0)
      if frame.endsTransaction { bytes.set(frame.pages, at: 4) }
      bytes += salts
      bytes += [UInt8](repeating: 0, count: 8)
      bytes += page
      checksum = checksum.addingFrame(bytes, order)
      bytes.replaceSubrange(16..<24, with: checksum.bytes)
      try write(bytes)
    }

    private mutating func write(_ bytes: [UInt8]) throws(SyncError) {
      let code = csqlite_write(target, bytes, bytes.count, Int64(place))
      guard code == 0 else { throw SQLiteFailure.ofCopy(code, during: SalvageOpening.operation) }
      place += bytes.count
    }

    /// The end of a log's last whole transaction, and the pages that its transactions have.
    private struct Extent {
      var lastCommit = 0
      private var pages: UInt32 = 0

      /// Walks through a log; `nil` if it has no whole transaction.
      init?(_ path: String) throws(SyncError) {
        guard var frames = try LogFrames(path) else { return nil }
        while let frame = try frames.next() {
          guard frame.endsTransaction else { continue }
          lastCommit = frame.number
          pages = max(pages, frame.pages)
        }
        if lastCommit == 0 { return nil }
      }

      /// Whether a damaged frame still looks like a page of the file.
      ///
      /// A page is part of a tree, whose first byte says which part, or begins with the number of
      /// another page.
      func isPlausible(_ frame: LogFrames.Frame, _ page: ArraySlice<UInt8>) -> Bool {
        guard (1...pages).contains(frame.page) else { return false }
        let start = Array(page.prefix(104))
        if frame.page == 1 {
          return start.starts(with: "SQLite format 3".utf8) && [5, 13].contains(start[100])
        }
        if start.allSatisfy({ $0 == 0 }) { return false }
        return [2, 5, 10, 13].contains(start[0]) || start.number(at: 0) <= pages
      }
    }
  }
#endif
