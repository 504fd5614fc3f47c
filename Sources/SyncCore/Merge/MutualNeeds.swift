import SyncModels

/// Changes that need each other, and which of them can be made together.
///
/// A copy that waits needs the records that it refers to; a deletion needs the deletion of every record that refers to its own.
struct MutualNeeds {
  private var needs: [RecordID: [RecordID]] = [:]

  /// Adds a record's change, and further records whose changes it needs.
  mutating func add(_ id: RecordID, needing others: [RecordID] = []) {
    needs[id, default: []] += others
  }

  /// Whether a record's change is among them.
  func contains(_ id: RecordID) -> Bool { needs[id] != nil }

  /// The largest set of changes that need nothing outside of it; none where there is no such set.
  ///
  /// - Complexity: O(*n* + *k*) for *n* changes with *k* needs.
  func complete() -> Set<RecordID> {
    var complete = Set(needs.keys)
    var dependents: [RecordID: [RecordID]] = [:]
    var lacking: [RecordID] = []
    for (id, others) in needs {
      for other in others where other != id {
        if needs[other] == nil { lacking.append(id) } else { dependents[other, default: []].append(id) }
      }
    }
    // What lacks something takes with it what needs it.
    while let id = lacking.popLast() {
      if complete.remove(id) != nil { lacking += dependents[id, default: []] }
    }
    return complete
  }
}
