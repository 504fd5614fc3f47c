import SyncJSON
import SyncModels
import SyncPorts

/// Checks the declarations of a store.
enum SchemaCheck {
  static func findings(_ entities: [Entity]) -> [StoreFinding] {
    var found: [StoreFinding] = []
    for (type, same) in Dictionary(grouping: entities, by: \.type) where same.count > 1 {
      found.append(StoreFinding(.schema, type: type, "the type is declared \(same.count) times"))
    }
    return found
  }
}

/// Compares the store's counts with what they count.
enum CountCheck {
  /// The numbers of rows that a walk has met.
  struct Walked: Sendable {
    var live = 0
    var unmarked = 0

    mutating func add(_ portion: VerificationWalk.Portion<String>) {
      live += portion.live
      unmarked += portion.unmarked
    }
  }

  /// The position of the last visible change; `nil` if the store cannot tell.
  static func position(_ store: any LocalStore) async throws(SyncError) -> StorePosition? {
    do throws(SyncError) {
      return try await store.read { (snapshot) throws(SyncError) in
        try snapshot.changes(after: nil).position
      }
    } catch {
      guard error.isOfDamage else { throw error }
      return nil
    }
  }

  /// Counts the withheld changes and the pending edits of a type.
  static func entries(of type: RecordType, in snapshot: any StoreSnapshot) throws(SyncError) -> [StoreFinding]
  {
    let counts = try snapshot.counts(type, rows: false)
    var found: [StoreFinding] = []
    var pending = 0
    var edits = snapshot.portions(outbox: type)
    while let entries = try edits.next() { pending += entries.count }
    if pending != counts.pending {
      found.append(
        StoreFinding(
          .counts, type: type, "the outbox has \(pending) edits, and its count is \(counts.pending)"))
    }
    for kind in WithheldChange.Kind.allCases {
      var withheld = 0
      var changes = snapshot.portions(withheld: type, [kind])
      while let entries = try changes.next() { withheld += entries.count }
      let count = counts.withheld[kind, default: 0]
      if withheld != count {
        found.append(
          StoreFinding(
            .counts, type: type,
            "\(Counted(withheld, "change is", "changes are")) \(kind.rawValue), and the count is \(count)"))
      }
    }
    return found
  }

  /// Compares the number of rows with the store's own count.
  ///
  /// - Parameter walked: The rows of a walk through this state; `nil` to walk through this
  ///   snapshot.
  static func rows(
    of type: RecordType, _ walked: Walked?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> [StoreFinding] {
    var counted = walked ?? Walked()
    if walked == nil {
      var key: String?
      while true {
        let rows = try snapshot.portion(rows: type, .all, after: key)
        guard let end = rows.last else { break }
        key = end.id.key
        counted.live += rows.count { $0.record != nil }
        counted.unmarked += rows.count { $0.record != nil && !$0.isMarked }
      }
    }
    guard let rows = try snapshot.counts(type, rows: true).rows else {
      return [StoreFinding(.counts, type: type, "the store counts no rows")]
    }
    var found: [StoreFinding] = []
    if rows.live != counted.live {
      found.append(
        StoreFinding(.counts, type: type, "\(counted.live) records are live, and the count is \(rows.live)"))
    }
    let queried = try snapshot.count(Query(type))
    if queried != counted.live {
      found.append(
        StoreFinding(.counts, type: type, "\(counted.live) records are live, and a query counts \(queried)"))
    }
    // Marks are written without a visible change, so only a walk of this snapshot can count them.
    if walked == nil, rows.unmarked != counted.unmarked {
      found.append(
        StoreFinding(
          .counts, type: type,
          "\(counted.unmarked) live records have no mark, and the count is \(rows.unmarked)"))
    }
    return found
  }
}

/// Checks the values that the engine keeps under keys.
enum ValueCheck {
  /// Checks the values after a key.
  static func portion(
    after key: String?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Portion<String> {
    let keys = try snapshot.portion(keys: "", after: key)
    let identity = try snapshot.storeIdentity()
    var found: [StoreFinding] = []
    if key == nil, identity.isEmpty { found.append(StoreFinding(.values, "the store has no identity")) }
    for key in keys {
      guard let bytes = try snapshot.value(forKey: key) else {
        found.append(StoreFinding(.values, key: key, "the key is listed and has no value"))
        continue
      }
      if let flaw = flaw(key, bytes, identity) { found.append(StoreFinding(.values, key: key, flaw)) }
    }
    return VerificationWalk.Portion(next: keys.last, findings: found, count: keys.count)
  }

  private static func flaw(_ key: String, _ bytes: [UInt8], _ identity: String) -> String? {
    if key.hasPrefix(Checkpoint.keyPrefix) {
      guard let checkpoint = try? JSONByteDecoder().decode(Checkpoint.self, from: bytes[...]) else {
        return "the checkpoint cannot be read"
      }
      return checkpoint.scope.store == identity ? nil : "the checkpoint is of another store"
    }
    // A few values are single bytes; the others are JSON.
    if bytes.count == 1 { return nil }
    return (try? JSONScanner.validate(bytes[...])) == nil ? "the value is not JSON" : nil
  }
}
