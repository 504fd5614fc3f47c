import InMemoryAdapters
import SyncCore
import SyncModels

/// Whether a store has what a remote has, but for what it lists as set aside, and with reason.
struct ConvergenceCheck {
  var graph: EntityGraph
  var view: StoreView
  var remote: InMemoryRemote
  /// Records of which the remote has nothing but unreadable bytes.
  var poisoned: Set<RecordID>

  /// Where the store differs from the remote without saying so, in words.
  var differences: [String] {
    let quarantined = Set(view.shelf.values.filter { $0.kind == .quarantined }.compactMap(\.change.id))
    var complaints = poisoned.subtracting(quarantined).sorted().map { "\($0) is poison, and not quarantined" }
    for entity in graph.entities { complaints += differences(of: entity.type) + duplicates(of: entity) }
    return complaints + leftovers
  }

  /// Edits that are still to be pushed, though nothing stands in their way.
  private var leftovers: [String] {
    // What the remote has instead cannot be shown, or read; until it can, the edit waits, and those that refer to it.
    var waiting = Set(
      view.outbox.keys.filter { view.shelf[.record($0)] != nil || poisoned.contains($0) })
    var count: Int
    repeat {
      count = waiting.count
      for entry in view.outbox.values where !waiting.contains(entry.id) {
        if references(of: entry).contains(where: waiting.contains) { waiting.insert(entry.id) }
      }
    } while count < waiting.count
    return view.outbox.values.filter { !waiting.contains($0.id) }.sorted { $0.id < $1.id }.map {
      "the edit of \($0.id) is not pushed, \($0.state)"
    }
  }

  /// What an edit has to wait for: what its record refers to, and what was sent, which is sent again before anything newer.
  private func references(of entry: OutboxEntry) -> [RecordID] {
    guard let entity = graph[entry.id.type] else { return [] }
    let shown = view.live[entry.id].map { entity.requiredReferences(of: $0) } ?? []
    return shown + entry.requiredReferences(of: entity)
  }

  /// Records that are the same thing in the world and have not been made one, though what becomes of each is known.
  private func duplicates(of entity: Entity) -> [String] {
    guard entity.naturalKey != nil, view.rebuild?.isDone == true else { return [] }
    let records = view.live.values.filter { $0.id.type == entity.type }
    return Dictionary(grouping: records) { entity.naturalKey(of: $0) ?? $0.id.key }.values
      .filter { group in group.count > 1 && !group.contains { view.shelf[.record($0.id)] != nil } }.map {
        "\($0.map(\.id.description).sorted()) are one"
      }.sorted()
  }

  private func differences(of type: RecordType) -> [String] {
    var complaints: [String] = []
    let there = Dictionary(
      remote.records(of: type).map { (RecordID(type: type, key: $0.key), $0.payload) },
      uniquingKeysWith: { _, last in last })
    let here = view.live.filter { $0.key.type == type }.mapValues(\.payload)
    for id in Set(here.keys).union(there.keys).sorted()
    where !poisoned.contains(id) && view.outbox[id] == nil {
      let entry = view.shelf[.record(id)]
      if here[id] == there[id] {
        if let entry { complaints.append("\(id) is as it should be, and \(entry.kind) all the same") }
      } else if let entry {
        if let flaw = flaw(of: entry, there: there[id]) { complaints.append("\(id): \(flaw)") }
      } else {
        complaints.append("\(id): \(words(here[id])) here, \(words(there[id])) there, nothing set aside")
      }
    }
    for entry in view.shelf.values where entry.key.type == type {
      guard case .record(let id) = entry.key, here[id] == nil, there[id] == nil, !poisoned.contains(id) else {
        continue
      }
      complaints.append("\(id) is gone, and \(entry.kind) all the same")
    }
    return complaints.sorted()
  }

  private func flaw(of entry: SetAside, there: Payload?) -> String? {
    switch entry.kind {
    case .parked:
      guard case .upsert(let copy) = entry.change else { return "parked without a copy" }
      if copy.payload != there { return "parked with a copy that the remote no longer has" }
      let isWaiting = !entry.waitsFor.isEmpty && entry.waitsFor.allSatisfy { view.live[$0] == nil }
      return isWaiting ? nil : "parked without need"
    case .held:
      if there != nil { return "held, but the remote has it" }
      let isReferred = view.live.values.contains { record in
        record.id != entry.change.id
          && graph[record.id.type]?.requiredReferences(of: record).contains { $0 == entry.change.id } == true
      }
      return isReferred ? nil : "held without need"
    case .incompatible:
      guard case .upsert(let copy) = entry.change else { return "incompatible without a copy" }
      if copy.schemaVersion <= graph[copy.id.type]?.schemaVersion ?? 0 { return "incompatible without need" }
      return copy.payload == there ? nil : "incompatible with a copy that the remote no longer has"
    case .quarantined:
      return there == nil ? nil : "quarantined, but the remote has a good copy"
    case .staged, .missing, .hidden:
      return "still \(entry.kind)"
    }
  }

  private func words(_ payload: Payload?) -> String {
    payload.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "nothing"
  }
}
