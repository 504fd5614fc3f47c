#if SQLite
  import CanonicalSyncDatabases
  import SyncModels

  // Reads the states of records, in the cheapest way for their order.

  extension SQLiteSnapshot {
    func states(of ids: [RecordID], comparing payloads: [Payload]) throws(SyncError) -> [StoredState?] {
      if payloads.isEmpty { return try states(of: ids) }
      var trail = RowTrail(over: ids)
      var states: [StoredState?] = []
      states.reserveCapacity(ids.count)
      if ids.areInOrder, let type = ids.first?.type, let table = catalog.tables[type] {
        try walk(ids, comparing: payloads, in: table, &trail, &states)
      } else {
        try lookUp(ids, comparing: payloads, &trail, &states)
      }
      cache.hasFound(trail)
      return states
    }

    private func states(of ids: [RecordID]) throws(SyncError) -> [StoredState?] {
      var states: [StoredState?] = []
      states.reserveCapacity(ids.count)
      var rows = BatchStatement(self, \.state)
      for id in ids {
        guard let statement = try rows.statement(for: id) else {
          states.append(nil)
          continue
        }
        let found = try statement.withLent(id.key, at: 1) { () throws(SyncError) in
          try stored(id.type, statement)
        }
        states.append(found?.state)
      }
      return states
    }

    /// Walks along the index, and looks up the rest if that costs less.
    private func walk(
      _ ids: [RecordID], comparing payloads: [Payload], in table: EntityTable, _ trail: inout RowTrail,
      _ states: inout [StoredState?]
    ) throws(SyncError) {
      let statement = try connection.statement(table.statesFrom)
      var walk = StateWalk(statement)
      defer { statement.clear() }
      let bitmap = marks(of: table.entity.type)
      while states.count < ids.count, !walk.isGivenUp, !walk.isAtEnd {
        let place = states.count
        let found = try walk.find(ids[place].key, comparing: payloads[place], marks: bitmap)
        trail.append(row: found?.row)
        states.append(found?.state)
      }
      while walk.isAtEnd, states.count < ids.count {
        trail.append(row: nil)
        states.append(nil)
      }
      while states.count < ids.count {
        let places = states.count..<min(states.count + EntityTable.lookupsAtOnce, ids.count)
        let found = try connection.statement(table.statesOfMany).states(
          of: ids[places], comparing: payloads[places], marks: bitmap)
        for found in found {
          trail.append(row: found?.row)
          states.append(found?.state)
        }
      }
    }

    private func lookUp(
      _ ids: [RecordID], comparing payloads: [Payload], _ trail: inout RowTrail,
      _ states: inout [StoredState?]
    ) throws(SyncError) {
      try refreshCache()
      var rows = BatchStatement(self, \.stateOfCopy)
      for (place, id) in ids.enumerated() {
        guard let statement = try rows.statement(for: id), try mayHaveRow(id) else {
          trail.append(row: nil)
          states.append(nil)
          continue
        }
        let found = try statement.run(lending: payloads[place].bytes, at: 2) { () throws(SyncError) in
          try statement.withLent(id.key, at: 1) { () throws(SyncError) in
            try stored(id.type, statement)
          }
        }
        trail.append(row: found?.row)
        states.append(found?.state)
      }
    }

    private func mayHaveRow(_ id: RecordID) throws(SyncError) -> Bool {
      try cache.mayHaveRow(id) { () throws(SyncError) in
        let table = try catalog.table(id.type, during: "reading \(id.type)")
        return try connection.first(table.anyRow) { _ in true } ?? false
      }
    }

    /// Runs one of a table's state statements, and resets it.
    private func stored(
      _ type: RecordType, _ statement: Statement
    ) throws(SyncError) -> (row: Int64, state: StoredState)? {
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let row = statement.integer(0)
      let state = StoredState(
        version: statement.version(1), isDeleted: statement.integer(4) != 0,
        hasSamePayload: statement.integer(5) != 0,
        isMarked: try marks(of: type).isMarked(row))
      return (row, state)
    }
  }

  extension [RecordID] {
    /// Whether all ids are of one type, in ascending order.
    fileprivate var areInOrder: Bool {
      guard var last = first else { return true }
      for id in dropFirst() {
        guard last.key.precedesByUTF8(id.key), last.type == id.type else { return false }
        last = id
      }
      return true
    }
  }

  extension Statement {
    /// Reads a record's row and state from columns: row, version, payload.
    func state(
      from column: Int, comparing payload: Payload, marks: TypeMarks
    ) throws(SyncError) -> (row: Int64, state: StoredState) {
      let row = integer(column)
      let isDeleted = isNull(column + 4)
      let state = StoredState(
        version: version(column + 1), isDeleted: isDeleted,
        hasSamePayload: !isDeleted && hasBytes(column + 4, payload.bytes),
        isMarked: try marks.isMarked(row))
      return (row, state)
    }

    /// Runs ``EntityTable/statesOfMany``, and returns rows and states in the order of the ids.
    func states(
      of ids: ArraySlice<RecordID>, comparing payloads: ArraySlice<Payload>, marks: TypeMarks
    ) throws(SyncError) -> [(row: Int64, state: StoredState)?] {
      // Parameters without an id match nothing, and no step reaches them.
      defer { clear() }
      for (place, id) in ids.enumerated() { try bind(id.key, at: Int32(place + 1)) }
      var states: [(row: Int64, state: StoredState)?] = []
      states.reserveCapacity(ids.count)
      for payload in payloads {
        // Each id has a row. It is empty if there is no such record.
        let isKnown = try step() && !isNull(0)
        states.append(isKnown ? try state(from: 0, comparing: payload, marks: marks) : nil)
      }
      return states
    }
  }
#endif
