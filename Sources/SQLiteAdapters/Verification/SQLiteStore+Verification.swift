#if SQLite
  import CanonicalSyncCSQLite
  public import SyncModels
  public import SyncPorts

  extension SQLiteStore: VerifiableStore {
    /// Checks the file's pages and indexes, its log, and the checksums of the pending edits.
    ///
    /// Each is a read of its own. Writers continue meanwhile.
    ///
    /// - Parameters:
    ///   - limit: The most findings that are returned.
    ///   - isQuick: Whether indexes are not compared with their tables.
    /// - Complexity: O(*n* log *n*) in the rows and index entries of the file; O(*n*) if quick.
    public func formatFindings(limit: Int, isQuick: Bool) async throws(SyncError) -> [StoreFinding] {
      var found: [StoreFinding] = []
      for check in [FormatCheck.pages(isQuick: isQuick), .log, .edits] where found.count < limit {
        found += try await findings(of: check, limit: limit - found.count)
      }
      return found
    }

    /// - Throws: `cancelled` once the task is cancelled, also within a statement.
    private func findings(of check: FormatCheck, limit: Int) async throws(SyncError) -> [StoreFinding] {
      do throws(SyncError) {
        return try await readers.run { connection throws(SyncError) -> [StoreFinding] in
          try connection.stoppingWithTask { () throws(SyncError) in
            try connection.transaction(.read) { () throws(SyncError) -> [StoreFinding] in
              try connection.demandKnownLayout()
              return try check.findings(connection, limit)
            }
          }
        }
      } catch {
        if Task.isCancelled {
          throw SyncError(.cancelled, during: "verifying the store", "The verification was stopped.")
        }
        guard error.isOfDamagedStore else { throw error }
        return [StoreFinding(check.part, "\(check.subject) cannot be read: \(error.message)")]
      }
    }
  }

  /// One check of the file's format, made within one read transaction.
  private struct FormatCheck: Sendable {
    let part: StoreFinding.Part
    /// The subject of the check, for a sentence.
    let subject: String
    /// Returns at most so many findings.
    let findings: @Sendable (Connection, Int) throws(SyncError) -> [StoreFinding]

    static func pages(isQuick: Bool) -> FormatCheck {
      FormatCheck(part: .file, subject: "the file") { connection, limit throws(SyncError) in
        var found: [StoreFinding] = []
        let check = isQuick ? "quick_check" : "integrity_check"
        let statement = try connection.statement("PRAGMA \(check)(\(max(1, limit)))")
        defer { statement.reset() }
        while try statement.step() {
          let text = statement.text(0)
          if text != "ok" { found.append(StoreFinding(.file, text)) }
        }
        return found
      }
    }

    static let log = FormatCheck(part: .file, subject: "the log") { connection, limit throws(SyncError) in
      guard let log = connection.logPath else { return [] }
      var found: [StoreFinding] = []
      let kept = KeptFiles(of: String(log.dropLast("-wal".count)))
      if kept.exist {
        found.append(
          StoreFinding(
            .file,
            "The log was damaged when the store was opened; \(kept.copy) and its log have what SQLite could not read"
          ))
      }
      if try UnreadCommits.find(inLog: log) != nil {
        found.append(
          StoreFinding(.file, "The log is damaged, and has transactions that SQLite cannot read"))
      }
      return Array(found.prefix(limit))
    }

    static let edits = FormatCheck(part: .outbox, subject: "the outbox") {
      connection, limit throws(SyncError) in
      let statement = try connection.statement(
        """
        SELECT CASE typeof(type) WHEN 'text' THEN type END, CASE typeof(id) WHEN 'text' THEN id END,
          \(EditChecksum.differs) FROM outbox
        WHERE \(EditChecksum.differs) OR type NOT IN (SELECT type FROM entities) LIMIT ?
        """)
      defer { statement.clear() }
      try statement.bind(Int64(limit), at: 1)
      var found: [StoreFinding] = []
      while try statement.step() {
        found.append(
          StoreFinding(
            .outbox, type: statement.optionalText(0).map { RecordType($0) }, key: statement.optionalText(1),
            statement.integer(2) == 0
              ? "the edit's type has no declaration" : "the edit is not as the library has written it"))
      }
      return found
    }
  }

  extension Connection {
    /// Runs a body whose statements fail once the task is cancelled.
    func stoppingWithTask<R>(_ body: () throws(SyncError) -> R) throws(SyncError) -> R {
      sqlite3_progress_handler(handle, 10_000, { _ in Task.isCancelled ? 1 : 0 }, nil)
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try body()
    }
  }
#endif
