#if SQLite
  import SyncModels

  extension Statement {
    /// The row and the state of a copy's record, in the columns from one on: row, version, payload.
    func state(
      of copy: Record, from column: Int32, marks: MarkBook
    ) throws(SyncError) -> (row: Int64, state: StoredState) {
      let row = integer(column)
      let isDeleted = isNull(column + 4)
      let state = StoredState(
        version: version(column + 1), isDeleted: isDeleted,
        hasSamePayload: !isDeleted && hasBytes(column + 4, copy.payload.bytes),
        isMarked: try marks.isMarked(row))
      return (row, state)
    }

    /// Runs ``EntityTable/statesOfMany``: the rows and states of the records of some copies, each at the copy's place.
    func states(
      of copies: ArraySlice<Record>, marks: MarkBook
    ) throws(SyncError) -> [(row: Int64, state: StoredState)?] {
      // Parameters that are left without an id find nothing, and nobody steps so far.
      defer { clear() }
      for (place, copy) in copies.enumerated() { try bind(copy.id.key, at: Int32(place + 1)) }
      var states: [(row: Int64, state: StoredState)?] = []
      states.reserveCapacity(copies.count)
      for copy in copies {
        // There is a row for each id, with nothing in it where there is no such record.
        let isKnown = try step() && !isNull(0)
        states.append(isKnown ? try state(of: copy, from: 0, marks: marks) : nil)
      }
      return states
    }
  }
#endif
