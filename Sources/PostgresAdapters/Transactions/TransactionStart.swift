#if Postgres
  import SyncModels

  /// The statements that begin a transaction.
  ///
  /// They go to the server with its first own statement. Until then the body reads what the
  /// connection remembers of the store's row. What it used of it is compared with the row as the
  /// transaction finds it. If they differ, the transaction runs again. A body that needs no
  /// statement costs one in place of three.
  struct TransactionStart {
    /// Begins the transaction.
    var begin: Statement
    /// Reads the row, for a transaction that writes after it has waited for earlier ones.
    var opening: Statement
    /// The row as the body sees it.
    var assumed: Opening
    /// What the body has used of the row.
    var used: Opening.Parts
    var layout: Int
  }

  extension Connection {
    /// The store's row for a transaction that is going to use some parts of it.
    func opening(_ parts: Opening.Parts) -> Opening {
      use(parts)
      return start?.assumed ?? opening
    }

    /// Notes that the transaction relies on parts of the store's row.
    func use(_ parts: Opening.Parts) { start?.used.formUnion(parts) }

    /// Compares the row with what the transaction has used of it.
    ///
    /// - Throws: A failure after which the transaction runs again, with ``hasChanged``.
    func compare(_ start: TransactionStart, with rows: ResultRows) throws(SyncError) {
      let now = try Opening(rows, layout: start.layout)
      guard start.assumed.equals(now, in: start.used) else {
        hasChanged = true
        throw changed
      }
      opening = now
      cache.kept.enter(now.keptVersion)
    }

    /// Ends a run whose body saw what another transaction had changed.
    var changed: SyncError {
      SyncError(.storeBusy, during: "reading the store", "Another transaction changed the store meanwhile.")
    }
  }
#endif
