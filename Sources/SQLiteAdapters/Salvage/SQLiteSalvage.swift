#if SQLite
  import CanonicalSyncDatabases
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// Reads a damaged SQLite store row by row, as far as it can be read.
  ///
  /// It skips rows and pages that SQLite cannot read. If SQLite refuses the whole file, it reads
  /// what the program `sqlite3` recovers of a copy, if that program is there. The damaged store
  /// itself is never changed. Close it in every process before: what is written during a salvage
  /// may be missing in the new store.
  public final class SQLiteSalvage: SalvageSource {
    private let opening: SalvageOpening
    private let connection: SerialConnection<Connection>
    private let seen = Mutex<[SalvageLoss.Part: SalvageTable.Seen]>([:])

    /// Describes the salvage of a store's file.
    ///
    /// - Parameters:
    ///   - path: The damaged file.
    ///   - scratch: The path of a copy, made if the file cannot be read as it is. An existing file
    ///     there is replaced then, and ``close()`` removes the copy. What is recovered has this
    ///     name with `-recovered`.
    ///   - executor: Runs the calls into SQLite.
    public convenience init(path: String, scratch: String, executor: SQLiteExecutor = .dispatch) {
      self.init(path: path, scratch: scratch, program: "sqlite3", executor: executor)
    }

    /// - Parameter program: The name or path of the program that recovers files.
    init(path: String, scratch: String, program: String, executor: SQLiteExecutor = .dispatch) {
      let opening = SalvageOpening(path: path, scratch: scratch, program: program)
      self.opening = opening
      connection = SerialConnection(on: executor.makeQueue("CanonicalSync.salvage")) {
        () throws(SyncError) in try opening.open()
      }
    }

    /// Closes the file, and removes the copies that were made of it.
    ///
    /// The last reference does so too.
    public func close() async {
      await connection.close()
      opening.removeCopies()
    }

    /// Returns the next entries of a part.
    ///
    /// - Throws: `storeUnreadable` if nothing can be read: the file is missing or is no database, or
    ///   its schema is lost and cannot be recovered. `invalidConfiguration` if the copy would
    ///   replace the damaged file. `storeFull` or `storeReadOnly` if a copy cannot be made.
    public func portion(
      of part: SalvagePart, after place: SalvagePlace?
    ) async throws(SyncError) -> SalvagePortion {
      let table: SalvageTable
      switch part {
      case .declarations:
        var portion = try await connection.run { connection throws(SyncError) in
          try connection.salvageDeclarations()
        }
        // They are known after the opening.
        portion.losses = opening.losses + portion.losses
        return portion
      case .outbox: table = .edits
      case .conflicts: table = .conflicts
      case .values: table = .values
      case .records(let entity): table = .records(of: entity)
      }
      let number: Int64? = if case .row(let number) = place { number } else { nil }
      return try await connection.run { connection throws(SyncError) in
        try self.seen.withLock {
          (seen: inout sending [SalvageLoss.Part: SalvageTable.Seen]) throws(SyncError) in
          try table.portion(connection, after: number, seen: &seen[table.part, default: .init()])
        }
      }
    }
  }

  extension Connection {
    /// Reads the declarations one by one; types without one get a bare declaration.
    fileprivate func salvageDeclarations() throws(SyncError) -> SalvagePortion {
      var portion = SalvagePortion()
      var known: Set<RecordType> = []
      do throws(SyncError) {
        try transaction(.read) { () throws(SyncError) in
          try forEachRow("SELECT type, declaration FROM entities") { row throws(SyncError) in
            guard let name = row.value(0).text, let text = row.value(1).text,
              let entity = try? decoded(Entity.self, from: text, what: "declaration of a type"),
              entity.type == RecordType(name), known.insert(entity.type).inserted
            else { return }
            portion.entries.append(.declaration(entity))
          }
        }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        portion.losses.append(SalvageLoss(.declarations, "the list of types cannot be read further"))
      }
      if let place = try movedPlace() {
        portion.losses.append(
          SalvageLoss(.declarations, "the store had been moved to \(place); what was edited since is there"))
      }
      let types = try transaction(.read) { () throws(SyncError) in try typesWithTables() }
      for type in types where known.insert(type).inserted {
        portion.entries.append(.declaration(Entity(type)))
        portion.losses.append(
          SalvageLoss(
            .declarations, type: type, "the declaration cannot be read; the next sync brings it back"))
      }
      return portion
    }

    /// The types that have a table, whether they are declared or not.
    private func typesWithTables() throws(SyncError) -> [RecordType] {
      var types: [RecordType] = []
      try forEachRow("SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'rows_*'") { row in
        if let name = row.value(0).text { types.append(RecordType(String(name.dropFirst(5)))) }
      }
      return types
    }

    /// The place to which the store was moved; `nil` if none can be read.
    private func movedPlace() throws(SyncError) -> String? {
      do throws(SyncError) {
        return try transaction(.read) { () throws(SyncError) in try placeMovedTo() }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return nil
      }
    }
  }
#endif
