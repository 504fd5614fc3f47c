#if SQLite
  public import SyncModels
  public import SyncPorts
  import Synchronization

  /// Reads a damaged SQLite store row by row, as far as it can be read.
  ///
  /// It skips rows and pages that SQLite cannot read. If SQLite refuses the whole file, because its
  /// header or its schema is damaged or the file is cut, or if it ignores transactions behind a
  /// damaged place in the log, it reads a copy in which these are repaired. The damaged store
  /// itself is never changed. Close it in every process before: what is written during a salvage
  /// may be missing in the new store.
  public final class SQLiteSalvage: SalvageSource {
    let opening: SalvageOpening
    let first: SalvageReading
    /// The store with another reading of a damaged log.
    let other: SalvageReading
    let taken = Mutex(Taken())

    /// Describes the salvage of a store's file.
    ///
    /// - Parameters:
    ///   - path: The damaged file.
    ///   - scratch: The path of a copy, made if the file cannot be read as it is. An existing file
    ///     there is replaced then, and ``close()`` removes the copy. If a damaged log is read in
    ///     two ways, there is a second copy, whose name ends in `-other`.
    ///   - executor: Runs the calls into SQLite.
    public init(path: String, scratch: String, executor: SQLiteExecutor = .dispatch) {
      let opening = SalvageOpening(path: path, scratch: scratch)
      self.opening = opening
      first = SalvageReading(
        SerialConnection(label: "CanonicalSync.salvage", executor: executor) {
          () throws(SyncError) in try opening.open()
        })
      other = SalvageReading(
        SerialConnection(label: "CanonicalSync.salvage.other", executor: executor) {
          () throws(SyncError) in try opening.openOther()
        })
    }

    /// Closes the file, and removes the copies that were made of it.
    public func close() async {
      await first.close()
      await other.close()
      opening.removeCopies()
    }

    /// Returns the next entries of a part.
    ///
    /// - Throws: `storeUnreadable` if nothing can be read: the file is missing or is no database,
    ///   or its schema is lost. `invalidConfiguration` if the copy would replace the damaged file.
    ///   `storeFull` or `storeReadOnly` if a copy cannot be made.
    public func portion(
      of part: SalvagePart, after place: SalvagePlace?
    ) async throws(SyncError) -> SalvagePortion {
      switch part {
      case .declarations:
        var portion = try await first.run { connection throws(SyncError) in
          try connection.salvageDeclarations()
        }
        // They are known after the opening.
        portion.losses = opening.losses + portion.losses
        return portion
      case .outbox: return try await outbox(after: place)
      case .conflicts: return SalvagePortion(try await first.portion(of: .conflicts, after: place?.number))
      case .values: return SalvagePortion(try await first.portion(of: .values, after: place?.number))
      case .records(let entity):
        return SalvagePortion(try await first.portion(of: .records(of: entity), after: place?.number))
      }
    }
  }

  extension SalvagePortion {
    init(_ portion: SalvageTable.Portion) {
      self.init(
        portion.entries, losses: portion.losses + portion.missing, next: portion.reached.map { .row($0) })
    }
  }

  extension SalvagePlace {
    /// The number of the row behind which the place is.
    var number: Int64? { if case .row(let number) = self { number } else { nil } }
  }

  extension Connection {
    func hasTable(_ name: String) throws(SyncError) -> Bool {
      try transaction(.read) { () throws(SyncError) -> Bool in
        let statement = try statement("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?")
        defer { statement.reset() }
        try statement.bind(name, at: 1)
        return try statement.step()
      }
    }

    /// The place to which the store was moved; `nil` if none is noted.
    private func movedPlace() throws(SyncError) -> String? {
      do throws(SyncError) {
        return try transaction(.read) { () throws(SyncError) in try placeMovedTo() }
      } catch {
        guard error.isOfDamagedStore else { throw error }
        return nil
      }
    }

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
      let types = try transaction(.read) { () throws(SyncError) in try typesWithTables() }
      if let place = try movedPlace() {
        portion.losses.append(
          SalvageLoss(.declarations, "the store had been moved to \(place); what was edited since is there"))
      }
      for type in types where known.insert(type).inserted {
        portion.entries.append(.declaration(Entity(type)))
        portion.losses.append(
          SalvageLoss(
            .declarations, type: type, "the declaration cannot be read; the next sync brings it back"))
      }
      return portion
    }
  }
#endif
