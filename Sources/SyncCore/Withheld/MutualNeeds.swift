import SyncModels

/// Changes that need each other, to find those that can be made together.
///
/// A waiting copy needs the records that it refers to. A deletion needs the deletion of every
/// record that refers to its record.
struct MutualNeeds {
  private var needs: [RecordID: [RecordID]] = [:]

  /// Adds a record's change, and further records whose changes it needs.
  mutating func add(_ id: RecordID, needing others: [RecordID] = []) {
    needs[id, default: []] += others
  }

  /// Whether a record's change was added.
  func contains(_ id: RecordID) -> Bool { needs[id] != nil }

  /// Returns the largest set of changes that need nothing outside of it; may be empty.
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
    // A change that lacks something makes the changes that need it lack something too.
    while let id = lacking.popLast() {
      if complete.remove(id) != nil { lacking += dependents[id, default: []] }
    }
    return complete
  }
}
