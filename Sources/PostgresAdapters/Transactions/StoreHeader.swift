#if Postgres
  import SyncModels
  import SyncPorts

  /// The one row of the table `store`, as a transaction reads it when it begins.
  struct StoreHeader {
    var catalog: Int64 = -1
    var keptVersion: Int64 = -1
    var position: Int64 = 0
    var fence: Int64 = 0
    var leaseEnd: Timestamp?
    var movedTo: String?
    var identity = ""
    /// The number of the last commit of this connection's writer that the server has.
    var token: Int64 = 0
    /// The numbers of entries as lines of type, kind and number.
    ///
    /// The kind of outbox entries is `pending`.
    var countLines = ""
    var layout: Int64 = 0
    /// The server's time when the header was read, after the lock was taken.
    var now = Timestamp(microseconds: 0)

    static let pending = "pending"

    /// The number of the columns of a header.
    static let columnCount = 12

    /// Reads the header of the store whose writer is the first parameter.
    static let sql = sql(writer: 1)

    /// Reads the header of the store whose writer is a parameter.
    static func sql(writer place: Int) -> String {
      """
      SELECT catalog, kept_version, position, fence, lease_ends_at, moved_to, identity, layout, \
      (SELECT token FROM commits WHERE writer = $\(place)::bytea), \
      (SELECT string_agg(type || ' ' || kind || ' ' || entries, E'\\n') FROM counts), \(clock), \(Session.expression) FROM store
      """
    }

    /// Reads the header, and in further rows other columns behind the header's.
    ///
    /// The server runs the second part whole in one process, so its rows keep their order; the header
    /// may come between them.
    static func sql(writer place: Int, above columns: [String], _ rest: String) -> String {
      func nulls(_ count: Int) -> String { Array(repeating: "NULL", count: count).joined(separator: ", ") }
      return """
        SELECT h.*, \(nulls(columns.count)) FROM (\(sql(writer: place))) AS h UNION ALL \
        (SELECT \(nulls(columnCount)), \(columns.joined(separator: ", ")) \(rest))
        """
    }

    private static let clock = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

    /// Reads the header.
    static func statement(_ writer: [UInt8]) -> Statement {
      Statement(sql) { $0.add(bytes: writer) }
    }

    /// Waits for a lock, and reads the header as it is then.
    static func statement(_ writer: [UInt8], underLock lock: Int64) -> Statement {
      Statement("SELECT *, \(clock), \(Session.expression) FROM opened($1::bigint, $2::bytea)") {
        $0.add(lock)
        $0.add(bytes: writer)
      }
    }

    /// Creates a header that no store has.
    init() {}

    init(_ row: ResultRow?, layout known: Int) throws(SyncError) {
      guard let row else {
        throw SyncError(.storeUnreadable, during: "reading the store", "The table store has no row.")
      }
      layout = row.integer(7)
      guard layout <= known else {
        throw SyncError(
          .storeNewer, during: "reading the store",
          "The store has layout \(layout) and this version of the library knows \(known): update the app.")
      }
      catalog = row.integer(0)
      keptVersion = row.integer(1)
      position = row.integer(2)
      fence = row.integer(3)
      leaseEnd = row.optionalInteger(4).map { Timestamp(microseconds: $0) }
      movedTo = row.optionalText(5)
      identity = row.text(6)
      token = row.integer(8)
      countLines = row.text(9)
      now = Timestamp(microseconds: row.integer(10))
    }

    /// The numbers of entries by type and kind.
    var counts: [RecordType: [String: Int]] { Self.counts(in: countLines) }

    /// Reads lines of type, kind and number.
    static func counts(in text: String) -> [RecordType: [String: Int]] {
      var counts: [RecordType: [String: Int]] = [:]
      for line in text.split(separator: "\n") {
        let words = line.split(separator: " ")
        guard words.count == 3, let number = Int(words[2]), number > 0 else { continue }
        counts[RecordType(String(words[0])), default: [:]][String(words[1])] = number
      }
      return counts
    }

    /// Refuses a lease that is not the current one, and a store that moved.
    func demand(_ authority: WriteAuthority) throws(SyncError) {
      if let movedTo {
        throw SyncError(
          .storeReadOnly, during: "writing to the store",
          "The store has moved to \(movedTo); open it there. This copy takes no edits and no syncs.")
      }
      guard case .lease(let lease) = authority, lease.fence != fence || leaseEnd == nil else { return }
      throw SyncError(
        .leaseLost, during: "writing under lease \(lease.fence)",
        lease.fence == fence
          ? "The lease has been given back." : "The store's last lease is \(fence): another sync took over.")
    }
  }

  // MARK: Comparison

  extension StoreHeader {
    /// The parts of the header that a transaction used before it read the header.
    struct Parts: OptionSet {
      let rawValue: Int

      static let keptValues = Parts(rawValue: 1)
      static let counts = Parts(rawValue: 2)
      static let position = Parts(rawValue: 4)
      static let movedTo = Parts(rawValue: 8)
      /// The lease, and the last commit of the writer.
      static let authority = Parts(rawValue: 16)
      static let all: Parts = [.keptValues, .counts, .position, .movedTo, .authority]
    }

    /// Whether another state of the header has the same values where a transaction used them.
    ///
    /// Every statement uses the registered types.
    func equals(_ other: StoreHeader, in parts: Parts) -> Bool {
      if catalog != other.catalog || identity != other.identity || layout != other.layout { return false }
      if parts.contains(.keptValues), keptVersion != other.keptVersion { return false }
      if parts.contains(.counts), countLines != other.countLines { return false }
      if parts.contains(.position), position != other.position { return false }
      if parts.contains(.movedTo), movedTo != other.movedTo { return false }
      guard parts.contains(.authority) else { return true }
      return fence == other.fence && (leaseEnd == nil) == (other.leaseEnd == nil) && token == other.token
    }
  }
#endif
