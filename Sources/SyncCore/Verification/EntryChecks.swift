import SyncJSON
import SyncModels
import SyncPorts

/// Checks the pending edits of one type.
struct OutboxCheck: Sendable {
  private let entity: Entity

  init(_ entity: Entity) {
    self.entity = entity
  }

  /// Checks the edits after a stamp.
  func portion(
    after stamp: EditStamp?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Portion<EditStamp> {
    let entries = try snapshot.portion(outbox: entity.type, after: stamp)
    var found: [StoreFinding] = []
    func report(_ entry: OutboxEntry, _ detail: String) {
      found.append(StoreFinding(.outbox, type: entity.type, key: entry.id.key, detail))
    }
    let known = Set(try snapshot.outbox(for: entries.map(\.id)))
    let states = try snapshot.states(of: entries.map(\.id), comparing: [])
    for (entry, state) in zip(entries, states) {
      if !known.contains(entry) { report(entry, "the lookup by id returns another edit than the listing") }
      if state == nil { report(entry, "the edited record has no row") }
      for payload in entry.payloads where !payload.isObject {
        report(entry, "a payload of the edit or its base is not one JSON object")
      }
    }
    // Many edits may leave one record.
    let left = Set(entries.flatMap(\.leaves)).sorted()
    var leaving: [RecordID: Set<RecordID>] = [:]
    if !left.isEmpty {
      for (id, list) in zip(left, try snapshot.outbox(leaving: left, limit: .max)) {
        leaving[id] = Set(list.map(\.id))
      }
    }
    for entry in entries {
      for id in entry.leaves where leaving[id]?.contains(entry.id) != true {
        report(entry, "the edit is not found from a record that it leaves")
      }
    }
    return VerificationWalk.Portion(next: entries.last?.edit.stamp, findings: found, count: entries.count)
  }
}

/// Checks the withheld changes of one type.
struct WithheldCheck: Sendable {
  private let entity: Entity

  init(_ entity: Entity) {
    self.entity = entity
  }

  /// Checks the changes after a key.
  func portion(
    after key: WithheldChange.Key?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Portion<WithheldChange.Key> {
    let entries = try snapshot.portion(withheld: entity.type, Set(WithheldChange.Kind.allCases), after: key)
    var found: [StoreFinding] = []
    func report(_ entry: WithheldChange, _ detail: String) {
      found.append(StoreFinding(.withheld, type: entity.type, key: entry.change.id?.key, detail))
    }
    let known = Set(try snapshot.withheld(for: entries.map(\.key)))
    for entry in entries {
      if !known.contains(entry) { report(entry, "the lookup by key returns another change than the listing") }
      if let flaw = entry.flaw { report(entry, flaw) }
    }
    for relation in WithheldChange.Relation.allCases {
      var related: [RecordID: Set<WithheldChange.Key>] = [:]
      for entry in entries {
        for target in targets(of: entry, by: relation) {
          if related[target] == nil {
            related[target] = try keys(relation, target, after: key, upTo: entries.last?.key, in: snapshot)
          }
          if related[target]?.contains(entry.key) != true {
            report(entry, "the change is not found from \(target), which it \(relation.words)")
          }
        }
      }
    }
    return VerificationWalk.Portion(next: entries.last?.key, findings: found, count: entries.count)
  }

  private func targets(of entry: WithheldChange, by relation: WithheldChange.Relation) -> [RecordID] {
    switch relation {
    case .waitingFor: return entry.kind == .parked ? entry.waitsFor : []
    case .referringTo:
      guard entry.kind != .staged, case .upsert(var record) = entry.change,
        let fields = try? entity.fields(of: record.payload)
      else { return [] }
      record.fields = fields
      return entity.allReferences(of: record)
    }
  }

  /// The keys of changes that depend on a record, within one portion.
  private func keys(
    _ relation: WithheldChange.Relation, _ target: RecordID, after start: WithheldChange.Key?,
    upTo end: WithheldChange.Key?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> Set<WithheldChange.Key> {
    // Keys of records are never empty, so all of the type's come after the empty one.
    var place = start ?? .record(RecordID(type: entity.type, key: ""))
    var keys: Set<WithheldChange.Key> = []
    while true {
      let portion = try snapshot.portion(
        related: relation, [target], Set(WithheldChange.Kind.allCases), after: place)
      keys.formUnion(portion.map(\.key))
      guard let last = portion.last?.key, let end, last < end else { return keys }
      place = last
    }
  }
}

extension WithheldChange {
  /// A contradiction within the entry; `nil` for none.
  fileprivate var flaw: String? {
    if case .record(let id) = key, let changed = change.id, changed != id {
      return "the change is of another record than its key"
    }
    switch (kind, change) {
    case (.parked, .upsert(let record)), (.incompatible, .upsert(let record)), (.hidden, .upsert(let record)):
      if kind == .parked, waitsFor.isEmpty { return "a parked copy waits for nothing" }
      return record.payload.isObject ? nil : "the payload is not one JSON object"
    case (.parked, _), (.incompatible, _), (.hidden, _): return "the change is not the copy of a record"
    case (.held, .upsert), (.held, .malformed): return "a held deletion is not one"
    default: return nil
    }
  }
}

extension WithheldChange.Relation {
  fileprivate var words: String {
    switch self {
    case .referringTo: "refers to"
    case .waitingFor: "waits for"
    }
  }
}

/// Checks the log of conflicts.
enum ConflictCheck {
  /// Checks the conflicts before a number.
  static func portion(
    before number: Int64?, in snapshot: any StoreSnapshot
  ) throws(SyncError) -> VerificationWalk.Portion<Int64> {
    let conflicts = try snapshot.portion(conflicts: nil, before: number, limit: MergeContext.portion)
    var found: [StoreFinding] = []
    for conflict in conflicts {
      func report(_ detail: String) {
        found.append(StoreFinding(.conflicts, type: conflict.id.type, key: conflict.id.key, detail))
      }
      if conflict.remote.id != conflict.id { report("the remote side is of another record") }
      var payloads = [conflict.local.content.payload, conflict.base].compactMap(\.self)
      if case .upsert(let record) = conflict.remote { payloads.append(record.payload) }
      if !payloads.allSatisfy(\.isObject) { report("a payload of the conflict is not one JSON object") }
    }
    return VerificationWalk.Portion(
      next: conflicts.last?.number, findings: found, count: conflicts.count)
  }
}

extension OutboxEntry {
  /// The payloads of the edit, its base and what was sent.
  var payloads: [Payload] {
    [edit.content.payload, base.record?.payload, sent?.content.payload].compactMap(\.self)
  }
}

extension Payload {
  /// Whether the bytes are one JSON object.
  var isObject: Bool {
    (try? JSONScanner.members(of: bytes) { _ in }) != nil
  }
}
