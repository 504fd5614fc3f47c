#if Postgres
  import CanonicalSyncDatabases
  import SyncModels
  import SyncPorts

  /// Reads and writes within one transaction of the writing connection.
  ///
  /// Writes wait for the next read or the end, and go to the server in one round trip with it.
  final class PostgresTransaction: PostgresSnapshot, PageGroupTransaction {
    private var observed = ChangedRecords.records([])
    private var trail = RowTrail()
    /// Kept values to write, by the bytes of their keys.
    private var kept: [[UInt8]: [UInt8]?] = [:]
    private(set) var changesKeptValues = false
    private(set) var hasWritten = false

    /// Whether the transaction changes what readers see, and so takes a position.
    var hasPosition: Bool { hasWritten && !observed.isEmpty }

    func readAhead(_ pages: [[RecordChange]]) { readsAhead = ReadsAhead(of: pages, in: catalog) }

    func apply(_ changes: StoreChanges) throws(SyncError) {
      if changes.isEmpty { return }
      hasWritten = true
      readsAhead.note(changes)
      for type in changes.unmarkedTypes { try clearMarks(of: type) }
      removeWithheld(changes.released)
      removeFromOutbox(changes.dequeued)
      try lookUp(changes)
      try insertOrUpdate(changes.put)
      try updateVersions(changes.versions)
      try deleteRows(changes.deleted)
      if !changes.withheld.isEmpty { try insertWithheld(changes.withheld) }
      try markRows(of: changes)
      trail.forget()
      if !changes.queued.isEmpty { try insertIntoOutbox(changes.queued) }
      if !changes.conflicts.isEmpty { try insertConflicts(changes.conflicts) }
      if let time = changes.forgottenConflicts { deleteConflicts(settledBefore: time) }
      if !changes.removedConflicts.isEmpty { deleteConflicts(changes.removedConflicts) }
      keep(changes.values)
      observed.insert(changes)
      if readsAhead.isUnderWay { try connection.send([], during: "writing") }
    }

    // MARK: Rows

    override func note(_ numbers: [Int64], of ids: [RecordID]) { trail.add(ids, numbers) }

    /// Looks up those records to put or to mark that the body has not.
    private func lookUp(_ changes: StoreChanges) throws(SyncError) {
      var unknown: [RecordID] = []
      for copy in changes.put where trail.place(of: copy.id) == nil { unknown.append(copy.id) }
      trail.rewind()
      for id in changes.marked where trail.place(of: id) == nil { unknown.append(id) }
      if !unknown.isEmpty { _ = try states(of: unknown, comparing: []) }
      trail.rewind()
      for id in changes.marked {
        if let place = trail.place(of: id) { trail.isMarked[place] = true }
      }
    }

    private func insertOrUpdate(_ copies: [Record]) throws(SyncError) {
      for (type, places) in copies.placesByType(\.id) {
        let table = try catalog.table(type, during: "writing \(type)")
        var (new, known): ([Record], [Record]) = ([], [])
        var (newMarks, knownMarks): ([Bool], [Bool]) = ([], [])
        trail.rewind()
        for place in places {
          guard let found = trail.place(of: copies[place].id) else { continue }
          if trail.numbers[found] == 0 {
            new.append(copies[place])
            newMarks.append(trail.isMarked[found])
          } else {
            known.append(copies[place])
            knownMarks.append(trail.isMarked[found])
          }
          // The row itself gets the mark.
          trail.isMarked[found] = false
        }
        if !new.isEmpty {
          connection.enqueue(Statement(table.insert, table.parameters(for: new, marking: newMarks)))
        }
        if !known.isEmpty {
          connection.enqueue(Statement(table.update, table.parameters(for: known, marking: knownMarks)))
        }
      }
    }

    private func updateVersions(_ copies: [Record]) throws(SyncError) {
      for (type, places) in copies.placesByType(\.id) {
        let table = try catalog.table(type, during: "writing \(type)")
        connection.enqueue(
          Statement(table.touch) {
            $0.add(versions: places.lazy.map { (copies[$0].id, copies[$0].version, copies[$0].entityTag) })
          })
      }
    }

    private func deleteRows(_ tombstones: [Tombstone]) throws(SyncError) {
      for (type, places) in tombstones.placesByType(\.id) {
        let table = try catalog.table(type, during: "deleting \(type)")
        connection.enqueue(
          Statement(table.delete) {
            $0.add(
              versions: places.lazy.map {
                (tombstones[$0].id, tombstones[$0].version, tombstones[$0].entityTag)
              })
          })
      }
    }

    /// Notes the marks of rows that stay as they are, or that are deleted.
    private func markRows(of changes: StoreChanges) throws(SyncError) {
      if changes.marked.isEmpty { return }
      // Records that had no row may have one now.
      lazy var written = Set(changes.deleted.map(\.id) + changes.put.map(\.id))
      var made: [RecordID] = []
      for (type, places) in changes.marked.placesByType() {
        var rows: [Int64] = []
        trail.rewind()
        for place in places {
          let id = changes.marked[place]
          guard let found = trail.place(of: id), trail.isMarked[found] else { continue }
          if trail.numbers[found] > 0 {
            rows.append(trail.numbers[found])
          } else if written.contains(id) {
            made.append(id)
          }
        }
        marks[type].mark(rows)
      }
      if made.isEmpty { return }
      trail.forget()
      _ = try states(of: made, comparing: [])
      for (type, places) in made.placesByType() {
        trail.rewind()
        marks[type].mark(
          places.compactMap { trail.place(of: made[$0]).map { trail.numbers[$0] } }.filter { $0 > 0 })
      }
    }

    override func writeMarks() {
      for (type, chunks) in marks.takeChanges() {
        connection.enqueue(
          Statement(
            """
            INSERT INTO marks SELECT $1::text, chunk, bits FROM unnest($2::bigint[], $3::bytea[]) AS c(chunk, bits) \
            ON CONFLICT (type, chunk) DO UPDATE SET bits = excluded.bits
            """
          ) {
            $0.add(text: type.rawValue)
            $0.add(chunks)
          })
      }
    }

    private func clearMarks(of type: RecordType) throws(SyncError) {
      _ = try catalog.table(type, during: "clearing the marks of \(type)")
      connection.enqueue(
        Statement(
          """
          WITH gone AS (DELETE FROM marks WHERE type = $1::text) \
          UPDATE entities SET round = round + 1 WHERE type = $1::text
          """
        ) { $0.add(text: type.rawValue) })
      marks[type] = MarkBitmap()
    }

    // MARK: Kept values

    /// Notes values, which the end of the transaction writes. Reads find them here until then.
    private func keep(_ values: [StoreChanges.KeptValue]) {
      for value in values { kept[Array(value.key.utf8)] = .some(value.bytes) }
    }

    override func value(forKey key: String) throws(SyncError) -> [UInt8]? {
      if let value = kept[Array(key.utf8)] { return value }
      return try super.value(forKey: key)
    }

    override func keys(withPrefix prefix: String, after: String?, limit: Int) throws(SyncError) -> [String] {
      if !kept.isEmpty {
        changesKeptValues = true
        connection.enqueue(Statement("WITH \(Self.writeKept) SELECT") { $0.add(takeKept()) })
      }
      return try super.keys(withPrefix: prefix, after: after, limit: limit)
    }

    /// The values that wait, as keys with values and keys without.
    ///
    /// From here on the cache has them. Earlier it might forget one, and read the former one again.
    private func takeKept() -> [ColumnArray] {
      var columns = [ColumnArray](.bytes, .bytes, .bytes, .bytes, .bytes)
      for (key, value) in kept {
        connection.cache.kept.note(value, for: key)
        let key = StoredKey(key[...])
        let place = value == nil ? 3 : 0
        columns[place].append(key.head)
        columns[place + 1].append(key.rest)
        if let value { columns[2].append(value[...]) }
      }
      kept = [:]
      return columns
    }

    private static let writeKept = """
      kept_now AS (INSERT INTO kept SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) \
      ON CONFLICT (id, \(StoredKey.digest(of: "rest"))) DO UPDATE SET value = excluded.value), \
      gone AS (DELETE FROM kept USING unnest($4::bytea[], $5::bytea[]) AS k(id, rest) \
      WHERE kept.id = k.id AND kept.rest = k.rest)
      """

    // MARK: The end

    private static let close = """
      WITH \(writeKept), noted AS (INSERT INTO commits VALUES ($6::bytea, $7::bigint, now()) \
      ON CONFLICT (writer) DO UPDATE SET token = excluded.token, at = excluded.at), \
      risen AS (UPDATE store SET position = position + $8::bigint, kept_version = kept_version + $9::bigint \
      RETURNING position), \
      logged AS (INSERT INTO changes SELECT position, $10::text[], $11::bytea[] FROM risen WHERE $8::bigint > 0 \
      RETURNING position) SELECT pg_notify($12::text, position::text) FROM logged
      """

    /// Writes what waits, and gives the transaction its number and its position. Call it at the
    /// end.
    func close(token: Int64) {
      guard hasWritten else { return }
      writeMarks()
      let position = connection.header(.all).position + 1
      if !kept.isEmpty { changesKeptValues = true }
      connection.enqueue(
        Statement(Self.close) { parameters in
          parameters.add(takeKept())
          parameters.add(bytes: connection.settings.writer)
          parameters.add(token)
          parameters.add(Int64(observed.isEmpty ? 0 : 1))
          parameters.add(Int64(changesKeptValues ? 1 : 0))
          if case .records(let ids) = observed {
            var columns = [ColumnArray](.text, .bytes)
            for id in ids {
              columns[0].append(id.type.rawValue)
              columns[1].append(id.key)
            }
            parameters.add(columns)
          } else {
            parameters.add(bytes: nil)
            parameters.add(bytes: nil)
          }
          parameters.add(text: connection.settings.channel)
        })
      // Every 100 positions, because trimming takes a statement.
      if !observed.isEmpty, position % 100 == 0 {
        connection.enqueue(
          Statement("DELETE FROM changes WHERE position <= $1::bigint") {
            $0.add(position - CommittedChanges.maximumWrites)
          })
      }
    }

    /// Whether the transaction writes kept values and nothing else.
    var writesKeptValuesAlone: Bool {
      !kept.isEmpty && observed.isEmpty && areCountsCurrent && !marks.isChanged
    }

    /// The statement that writes the kept values and commits.
    ///
    /// It does so if the store's header is still as it was.
    func keeping(by known: StoreHeader, token: Int64) -> Statement {
      changesKeptValues = true
      return Statement(
        """
        SELECT CASE WHEN \(Session.expression) = $15::text THEN keep_alone($6::bigint, $7::bytea, $8::bigint, $9::bigint, $10::bigint, $11::bigint, $12::bigint, \
        $13::text, $14::boolean, $1::bytea[], $2::bytea[], $3::bytea[], $4::bytea[], $5::bytea[]) END
        """
      ) { parameters in
        parameters.add(takeKept())
        parameters.add(connection.settings.writeLock)
        parameters.add(bytes: connection.settings.writer)
        parameters.add(token)
        parameters.add(known.catalog)
        parameters.add(known.keptVersion)
        parameters.add(known.position)
        parameters.add(known.fence)
        parameters.add(text: known.countLines)
        parameters.add(known.leaseEnd != nil)
        parameters.add(text: connection.sessionMark)
      }
    }
  }

  extension Array {
    /// The places of the elements of each type, in their order.
    fileprivate func placesByType(_ id: KeyPath<Element, RecordID>) -> [(type: RecordType, places: [Int])] {
      map { $0[keyPath: id] }.placesByType()
    }
  }

  extension Parameters {
    /// Adds keys, versions and entity tags as six columns.
    fileprivate mutating func add(versions: some Sequence<(id: RecordID, version: Version, tag: String?)>) {
      var columns = [ColumnArray](.bytes, .bytes, .int64, .int64, .int64, .bytes)
      for (id, version, tag) in versions {
        columns.append(key: id.key, at: 0)
        columns.append(version, tag: tag, at: 2)
      }
      add(columns)
    }
  }
#endif
