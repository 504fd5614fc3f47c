#if SQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  /// One reading of a damaged file, which remembers what it has read.
  final class SalvageReading: Sendable {
    private let connection: SerialConnection
    private let seen = Mutex<[SalvageLoss.Part: SalvageTable.Seen]>([:])
    private static let limit = 400

    init(_ connection: SerialConnection) {
      self.connection = connection
    }

    func close() async { await connection.close() }

    func run<R: Sendable>(
      _ body: @escaping @Sendable (Connection) throws(SyncError) -> R
    ) async throws(SyncError) -> R {
      try await connection.run(body)
    }

    /// Reads the rows of a table behind a number.
    func portion(
      of table: SalvageTable, after number: Int64?
    ) async throws(SyncError) -> SalvageTable.Portion {
      try await run { connection throws(SyncError) in
        var portion = try self.read(table, connection, after: number)
        portion.losses += portion.unreadable.map { table.loss("row \($0) cannot be read") }
        return portion
      }
    }

    /// Reads edits: strictly, and those with a damaged column as far as they make sense.
    func edits(after number: Int64?) async throws(SyncError) -> SalvageTable.Portion {
      try await run { connection throws(SyncError) in
        let table = try SalvageTable.edits(connection)
        var portion = try self.read(table, connection, after: number)
        for number in portion.unreadable {
          if let entry = try connection.damagedEdit(number) {
            portion.entries.append(.edit(entry))
            portion.losses.append(table.alteration(.edit(entry)))
          } else {
            portion.losses.append(table.loss("row \(number) cannot be read"))
          }
        }
        return portion
      }
    }

    private func read(
      _ table: SalvageTable, _ connection: Connection, after number: Int64?
    ) throws(SyncError) -> SalvageTable.Portion {
      try seen.withLock { (seen: inout sending [SalvageLoss.Part: SalvageTable.Seen]) throws(SyncError) in
        try table.portion(
          connection, after: number, limit: Self.limit, seen: &seen[table.part, default: .init()])
      }
    }

    /// Looks the edit of a record up; `nil` if none can be read.
    func edit(of id: RecordID) async throws(SyncError) -> OutboxEntry? {
      try await run { connection throws(SyncError) in
        var number: Int64?
        do throws(SyncError) {
          return try connection.transaction(.read) { () throws(SyncError) -> OutboxEntry? in
            let lookup = try connection.statement("SELECT entry FROM outbox WHERE type = ? AND id = ?")
            defer { lookup.reset() }
            try lookup.bind(id, at: 1)
            guard try lookup.step() else { return nil }
            number = lookup.integer(0)
            let row = try connection.statement("SELECT \(OutboxRows.columns) FROM outbox WHERE entry = ?")
            defer { row.reset() }
            try row.bind(lookup.integer(0), at: 1)
            return try row.step() ? try row.outboxEntry(of: id.type) : nil
          }
        } catch {
          guard error.isOfDamagedStore else { throw error }
        }
        guard let number, let entry = try connection.damagedEdit(number), entry.id == id else { return nil }
        return entry
      }
    }
  }
#endif
