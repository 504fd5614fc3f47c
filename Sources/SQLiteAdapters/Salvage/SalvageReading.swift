#if SQLite
  import SyncModels
  import SyncPorts
  import Synchronization

  /// One reading of a damaged file, which remembers what it has read.
  final class SalvageReading: Sendable {
    private let connection: SerialConnection
    private let seen = Mutex<[SalvageLoss.Part: SalvageTable.Seen]>([:])
    /// The records whose edits the index gave before the walk.
    private let lookedUp = Mutex<Set<RecordID>>([])
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
        let altered = portion.altered
        for number in portion.unreadable {
          if let entry = try connection.damagedEdit(number) {
            portion.entries.append(.edit(entry))
            portion.altered.append(.edit(entry))
            portion.losses.append(.alteration(of: entry.id))
          } else {
            portion.losses.append(table.loss("row \(number) cannot be read"))
          }
        }
        if number == nil { self.lookedUp.withLock { $0 = [] } }
        portion.remove(self.lookedUp.withLock(\.self))
        for case .edit(let entry) in altered {
          portion.losses.append(.alteration(of: entry.id))
          // The damage may have given it the id of another record, whose own edit the index names.
          guard let own = try connection.edit(of: entry.id, in: table), own.entry != entry else { continue }
          portion.remove([entry.id])
          portion.entries.append(.edit(own.entry))
          if own.isAltered { portion.altered.append(.edit(own.entry)) }
          self.lookedUp.withLock { _ = $0.insert(entry.id) }
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

    /// Looks the edits of some records up, as far as they can be read.
    func edits(of ids: [RecordID]) async throws(SyncError) -> [RecordID: EditReading] {
      try await run { connection throws(SyncError) in
        let table = try SalvageTable.edits(connection)
        var found: [RecordID: EditReading] = [:]
        for id in ids { found[id] = try connection.edit(of: id, in: table) }
        return found
      }
    }
  }

  /// An edit as one reading has it.
  struct EditReading {
    let entry: OutboxEntry
    /// Whether it is not as it was written.
    let isAltered: Bool

    /// Whether another reading of the record's edit counts instead.
    ///
    /// The later edit does. If both are the same edit, the one that is as it was written does.
    func yields(to other: EditReading) -> Bool {
      entry.edit.stamp == other.entry.edit.stamp
        ? isAltered && !other.isAltered : entry.edit.stamp < other.entry.edit.stamp
    }
  }

  extension SalvageTable.Portion {
    /// Removes the edits of some records.
    fileprivate mutating func remove(_ ids: Set<RecordID>) {
      if ids.isEmpty { return }
      entries.removeAll { entry in
        if case .edit(let edit) = entry { ids.contains(edit.id) } else { false }
      }
    }
  }

  extension SalvageLoss {
    static func alteration(of id: RecordID) -> SalvageLoss {
      SalvageLoss(
        .outbox, type: id.type, key: id.key,
        "the edit is not as the library has written it; it is kept as it reads, or the record's own edit is")
    }
  }

  extension Connection {
    /// Looks an edit up by the index; `nil` if none can be read.
    fileprivate func edit(of id: RecordID, in table: SalvageTable) throws(SyncError) -> EditReading? {
      var number: Int64?
      do throws(SyncError) {
        return try transaction(.read) { () throws(SyncError) -> EditReading? in
          let lookup = try statement("SELECT entry FROM outbox WHERE type = ? AND id = ?")
          defer { lookup.reset() }
          try lookup.bind(id, at: 1)
          guard try lookup.step() else { return nil }
          number = lookup.integer(0)
          let columns = (table.columns + [table.isAltered]).joined(separator: ", ")
          let row = try statement("SELECT \(columns) FROM outbox WHERE entry = ?")
          defer { row.reset() }
          try row.bind(lookup.integer(0), at: 1)
          guard try row.step() else { return nil }
          let entry = try row.outboxEntry(of: RecordType(row.text(0)))
          let isAltered = row.integer(Int32(table.columns.count)) != 0
          return entry.id == id ? EditReading(entry: entry, isAltered: isAltered) : nil
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
      }
      guard let number, let entry = try damagedEdit(number), entry.id == id else { return nil }
      return EditReading(entry: entry, isAltered: true)
    }
  }
#endif
