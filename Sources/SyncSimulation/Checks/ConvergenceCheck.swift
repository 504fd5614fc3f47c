import InMemoryAdapters
import SyncCore
import SyncModels

/// Compares a store with its remote.
///
/// A difference is allowed if the store lists it as a withheld change, with a reason that is true
/// now.
struct ConvergenceCheck {
  let schema: SyncSchema
  let view: StoreView
  let truth: RemoteTruth
  /// The reasons of waiting edits, as the store reports them.
  private let waiting: [RecordID: PendingEdit]
  /// The records whose references allow them to be shown.
  private let showable: Set<RecordID>
  /// Records with a held deletion to which other visible records still refer.
  private let heldFast: Set<RecordID>

  init(schema: SyncSchema, view: StoreView, truth: RemoteTruth, waiting: [PendingEdit]) {
    self.waiting = Dictionary(waiting.map { ($0.entry.id, $0) }, uniquingKeysWith: { first, _ in first })
    self.schema = schema
    self.view = view
    self.truth = truth
    showable = truth.showable(beside: view, schema)
    heldFast = Self.heldFast(view, schema)
  }

  /// The unexplained differences between the store and the remote.
  var differences: [Difference] {
    let quarantined = Set(view.withheld.values.filter { $0.kind == .quarantined }.compactMap(\.change.id))
    var complaints = truth.malformed.filter { schema[$0.type] != nil }.subtracting(quarantined).sorted()
      .map { Difference("\($0) is malformed, and not quarantined", about: [$0]) }
    for entity in schema.entities { complaints += differences(of: entity.type) + duplicates(of: entity) }
    return complaints + leftovers
  }

  /// Duplicates that were not merged, although the state of each is known.
  private func duplicates(of entity: Entity) -> [Difference] {
    guard entity.naturalKey != nil, view.rebuilds[entity.type]?.isDone == true,
      !isListingOpen(around: entity)
    else { return [] }
    let records = view.live.values.filter { $0.id.type == entity.type }
    let groups = Dictionary(grouping: records) { entity.naturalKey(of: $0) ?? $0.id.key }.values
      .map { $0.map(\.id).sorted() }
      .filter { ids in ids.count > 1 && !ids.contains { view.withheld[.record($0)] != nil } }
    return groups.sorted { $0[0] < $1[0] }.map { ids in
      let names = ids.map(\.description).joined(separator: " and ")
      return Difference("\(names) are duplicates, and were not merged", about: ids)
    }
  }

  // MARK: Edits

  /// Edits in the outbox without an obstacle.
  ///
  /// An edit may wait only for something outside of the store, directly or indirectly. Those that wait
  /// for each other alone, in a circle, could never be pushed.
  private var leftovers: [Difference] {
    var waiting = Set(view.outbox.values.filter(hasToWait).map(\.id))
    var count: Int
    repeat {
      count = waiting.count
      for entry in view.outbox.values where !waiting.contains(entry.id) {
        if references(of: entry).contains(where: waiting.contains) || keepsAReferrer(entry, waiting)
          || waitsForItsWinner(entry, waiting) || view.group(of: entry.id).contains(where: waiting.contains)
        {
          waiting.insert(entry.id)
        }
      }
    } while count < waiting.count
    return view.outbox.values.filter { !waiting.contains($0.id) }.sorted { $0.id < $1.id }.map {
      Difference("the edit of \($0.id) is not pushed, and \(reason(of: $0.id))", about: [$0.id])
    }
  }

  private func reason(of id: RecordID) -> String { waiting[id]?.reason ?? "no reason is given" }

  /// Whether an edit must wait.
  ///
  /// The remote does not accept it, or has a state that cannot be read or shown.
  private func hasToWait(_ entry: OutboxEntry) -> Bool {
    if isBlocked(entry) { return true }
    if entry.edit.content == .deletion, isReferredToUnseen(entry.id) { return true }
    guard view.withheld[.record(entry.id)] != nil else { return false }
    // The remote state cannot be shown. Until then, the edit waits.
    return truth.payloads[entry.id] == nil || !showable.contains(entry.id)
  }

  /// Whether something outside of the store keeps the remote from accepting an edit.
  private func isBlocked(_ entry: OutboxEntry) -> Bool {
    // Until the app declares the type again, the edit's references cannot be read.
    if schema[entry.id.type] == nil, waiting[entry.id]?.kind == .upgrade { return true }
    if truth.refused.contains(entry.id) || truth.malformed.contains(entry.id) { return true }
    if truth.isFull, truth.payloads[entry.id] == nil { return true }
    if truth.isTaken(entry) { return true }
    if case .postponed(let until) = entry.state, until > truth.now, truth.refused.contains(entry.id) {
      return true
    }
    return false
  }

  /// Whether a remote record that is not shown here would dangle without this one.
  ///
  /// A record whose absence cannot be confirmed counts too.
  private func isReferredToUnseen(_ id: RecordID) -> Bool {
    view.withheld.values.contains { entry in
      guard case .upsert(let copy) = entry.change,
        truth.payloads[copy.id] == truth.plain(copy.payload) || truth.malformed.contains(copy.id)
          || truth.payloads[copy.id] == nil && isInDoubt(entry),
        let entity = schema[copy.id.type], let fields = try? entity.fields(of: copy.payload)
      else { return false }
      return zip(entity.fields, fields).contains { field, value in
        value == .string(id.key) && entity.references.contains { $0.field == field && $0.target == id.type }
      }
    }
  }

  /// The records that an edit waits for.
  ///
  /// They are the references of its record and of the sent edit, which is sent again before any
  /// newer one.
  private func references(of entry: OutboxEntry) -> [RecordID] {
    guard let entity = schema[entry.id.type] else { return [] }
    let shown = view.live[entry.id].map { entity.requiredReferences(of: $0) } ?? []
    return shown + entry.requiredReferences(of: entity)
  }

  /// Whether a deletion waits for an edit that removes another record's reference to it.
  private func keepsAReferrer(_ entry: OutboxEntry, _ waiting: Set<RecordID>) -> Bool {
    guard entry.edit.content == .deletion else { return false }
    return waiting.contains { id in
      // Until that edit is settled, only its base is known of the other record.
      if view.outbox[id]?.leaves.contains(entry.id) == true { return true }
      guard let entity = schema[id.type], let record = truth.records[id] else { return false }
      return entity.requiredReferences(of: record).contains(entry.id)
    }
  }

  /// Whether a rebuild's deletion waits for its winner.
  ///
  /// The winner's state at the remote differs from the local one.
  private func waitsForItsWinner(_ entry: OutboxEntry, _ waiting: Set<RecordID>) -> Bool {
    guard entry.author != .app, entry.edit.content == .deletion else { return false }
    // Without lookups, a listing that lacks some records is not completed, and none shows the
    // winner.
    if truth.refusesLookups(entry.id.type), view.checkpoints[entry.id.type]?.sweep != nil { return true }
    guard let winner = view.winner(over: entry), view.live[winner] != nil else { return false }
    return waiting.contains(winner) || view.withheld[.record(winner)] != nil
      || isInDoubt(winner, there: truth.payloads[winner])
  }

  // MARK: Records

  private func differences(of type: RecordType) -> [Difference] {
    var complaints: [Difference] = []
    func complain(_ words: String, _ id: RecordID) { complaints.append(Difference(words, about: [id])) }
    let there = truth.payloads.filter { $0.key.type == type }
    let here = view.live.filter { $0.key.type == type }.mapValues { truth.plain($0.payload) }
    for id in Set(here.keys).union(there.keys).sorted()
    where !truth.malformed.contains(id) && view.outbox[id] == nil {
      let entry = view.withheld[.record(id)]
      if here[id] == there[id] {
        if let entry, !isInDoubt(entry) {
          complain("\(id) is as it should be, and \(entry.kind) all the same", id)
        }
      } else if let entry {
        if let flaw = flaw(of: entry, there: there[id]) { complain("\(id): \(flaw)", id) }
      } else if !isInDoubt(id, there: there[id]) {
        complain("\(id): \(words(here[id])) here, \(words(there[id])) there, no withheld change", id)
      }
    }
    for entry in view.withheld.values where entry.key.type == type {
      if case .bytes = entry.key, case .malformed(let malformed) = entry.change,
        let id = malformed.id,
        truth.records[id] != nil, (try? FieldMap(malformed.bytes)) == nil
      {
        complain("bytes are quarantined under \(id), of which the remote has a good copy", id)
      }
      guard case .record(let id) = entry.key, here[id] == nil, there[id] == nil,
        !truth.malformed.contains(id), !isInDoubt(entry), !isSettledByItsEdit(entry, of: id)
      else { continue }
      complain("\(id) is gone, and \(entry.kind) all the same", id)
    }
    return complaints.sorted { $0.description < $1.description }
  }

  /// Whether a type, or one that refers to it, lacks a complete listing.
  ///
  /// Its records cannot be looked up, so its duplicates are not checked.
  private func isListingOpen(around entity: Entity) -> Bool {
    schema.entities.contains { other in
      (other.type == entity.type || other.references.contains { $0.target == entity.type })
        && truth.refusesLookups(other.type) && view.checkpoints[other.type]?.sweep != nil
    }
  }

  /// Whether a record's deletion is uncertain, so that its sweep stays due.
  ///
  /// The last listing lacked the record, and the remote refuses lookups.
  private func isInDoubt(_ id: RecordID, there: Payload?) -> Bool {
    there == nil && truth.refusesLookups(id.type) && view.checkpoints[id.type]?.sweep != nil
      && view.states[id]?.isMarked == false
  }

  /// Whether that pending sweep would remove the withheld change.
  private func isInDoubt(_ entry: WithheldChange) -> Bool {
    guard truth.refusesLookups(entry.key.type), let sweep = view.checkpoints[entry.key.type]?.sweep else {
      return false
    }
    return entry.pass < sweep.pass
  }

  /// Whether a listing lacked a record whose deletion is still pending.
  ///
  /// The remote's answer to the deletion settles both.
  private func isSettledByItsEdit(_ entry: WithheldChange, of id: RecordID) -> Bool {
    entry.kind == .missing && view.outbox[id]?.edit.content == .deletion
  }

  private func flaw(of entry: WithheldChange, there: Payload?) -> String? {
    if there == nil, isInDoubt(entry) { return nil }
    switch entry.kind {
    case .parked:
      guard case .upsert(let copy) = entry.change else { return "parked without a copy" }
      if truth.plain(copy.payload) != there { return "parked with a copy that the remote no longer has" }
      return showable.contains(copy.id) ? "parked without need" : nil
    case .held:
      if there != nil { return "held, but the remote has it" }
      guard let id = entry.change.id, heldFast.contains(id) else { return "held without need" }
      return isRuleDue(of: id) ? "held, and the rule of what refers to it is not carried out" : nil
    case .incompatible:
      guard case .upsert(let copy) = entry.change else { return "incompatible without a copy" }
      if copy.schemaVersion <= schema[copy.id.type]?.schemaVersion ?? 0 { return "incompatible without need" }
      return truth.plain(copy.payload) == there
        ? nil : "incompatible with a copy that the remote no longer has"
    case .quarantined:
      return there == nil ? nil : "quarantined, but the remote has a good copy"
    case .hidden:
      guard case .upsert(let copy) = entry.change else { return "hidden without a copy" }
      if truth.plain(copy.payload) != there { return "hidden with a copy that the remote no longer has" }
      return truth.rules?.hides(copy, at: truth.now) == true ? nil : "hidden, and no rule hides it"
    case .missing:
      return there == nil && truth.refusesLookups(entry.key.type) ? nil : "still missing"
    case .staged:
      return "still staged"
    }
  }

  /// Whether a reference's rule has to end a held deletion.
  ///
  /// It waits for other edits and withheld changes of the records that refer to it.
  private func isRuleDue(of target: RecordID) -> Bool {
    guard truth.carriesOutRules else { return false }
    let referrers = referrers(to: target)
    if referrers.contains(where: { $0.rule == .keepsTarget }) { return false }
    return !referrers.contains { view.outbox[$0.id] != nil || view.withheld[.record($0.id)] != nil }
  }

  /// The live records that need another one, with the rules of their references.
  private func referrers(to target: RecordID) -> [(id: RecordID, rule: Reference.DeletionRule)] {
    var found: [(id: RecordID, rule: Reference.DeletionRule)] = []
    for record in view.live.values where record.id != target {
      guard let entity = schema[record.id.type] else { continue }
      for reference in entity.references
      where reference.isOrdered && entity.target(of: record, by: reference) == target {
        found.append((record.id, reference.onDeletion))
      }
    }
    return found
  }

  /// The deletions that must be held.
  ///
  /// A record that is visible for another reason than its own held deletion refers to theirs.
  private static func heldFast(_ view: StoreView, _ schema: SyncSchema) -> Set<RecordID> {
    let held = Set(view.withheld.values.filter { $0.kind == .held }.compactMap(\.change.id))
    guard !held.isEmpty else { return [] }
    var fast: Set<RecordID> = []
    var open = view.live.values.filter { !held.contains($0.id) }[...]
    while let record = open.popFirst() {
      for target in schema[record.id.type]?.requiredReferences(of: record) ?? [] where held.contains(target) {
        if fast.insert(target).inserted, let next = view.live[target] { open.append(next) }
      }
    }
    return fast
  }

  private func words(_ payload: Payload?) -> String {
    payload?.text ?? "nothing"
  }
}
