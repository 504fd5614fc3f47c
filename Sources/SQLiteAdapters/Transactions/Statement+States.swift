#if SQLite
  import SyncModels

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
