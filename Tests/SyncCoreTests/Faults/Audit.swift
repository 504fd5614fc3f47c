import CanonicalSync
import InMemoryAdapters
import Synchronization

/// Checks a store for dangling references after every commit, and finally against the remote.
final class Audit: Sendable {
  let schema: SyncSchema
  let store: InMemoryStore
  private let found = Mutex<[String]>([])

  init(_ schema: SyncSchema, _ store: InMemoryStore) {
    self.schema = schema
    self.store = store
  }

  /// References of live records to records that were not live, at any commit so far.
  var dangling: [String] { found.withLock { $0 } }

  /// Searches for live records whose targets are not live.
  func lookForDanglingReferences() {
    var live: Set<RecordID> = []
    for entity in schema.entities { live.formUnion(store.records(of: entity.type).map(\.id)) }
    for entity in schema.entities {
      for record in store.records(of: entity.type) {
        for target in entity.requiredReferences(of: record) where !live.contains(target) {
          found.withLock { $0.append("\(record.id) refers to \(target)") }
        }
      }
    }
  }

  /// The unexplained differences between the store and a remote, in words.
  ///
  /// - Parameter malformed: Records of which the remote has only unreadable bytes.
  func differences(from remote: InMemoryRemote, malformed: Set<RecordID> = []) async throws -> [String] {
    var complaints: [String] = []
    let withheld = try await withheld()
    let quarantined = Set(withheld.values.filter { $0.kind == .quarantined }.compactMap(\.change.id))
    for id in malformed.subtracting(quarantined) {
      complaints.append("\(id) is malformed, and not quarantined")
    }
    for entity in schema.entities {
      let type = entity.type
      let here = Dictionary(uniqueKeysWithValues: store.records(of: type).map { ($0.id, $0.payload) })
      let there = Dictionary(
        uniqueKeysWithValues: remote.records(of: type).map { (RecordID(type: type, key: $0.key), $0.payload) }
      )
      for id in Set(here.keys).union(there.keys).sorted()
      where here[id] != there[id] && !malformed.contains(id) {
        guard let entry = withheld[.record(id)] else {
          complaints.append(
            "\(id): \(remoteStates(here[id])) here, \(remoteStates(there[id])) there, nothing set aside")
          continue
        }
        if let flaw = flaw(of: entry, there: there[id]) { complaints.append("\(id): \(flaw)") }
      }
      for entry in withheld.values where entry.key.type == type {
        guard case .record(let id) = entry.key, !malformed.contains(id) else { continue }
        if here[id] == there[id] {
          complaints.append("\(id) is as it should be, and \(entry.kind) all the same")
        }
      }
    }
    return complaints
  }

  private func flaw(of entry: WithheldChange, there: Payload?) -> String? {
    switch entry.kind {
    case .parked:
      guard case .upsert(let copy) = entry.change else { return "parked without a copy" }
      if copy.payload != there { return "parked with a copy that the remote no longer has" }
      let missing = entry.waitsFor.filter { id in !store.records(of: id.type).contains { $0.id == id } }
      return missing.count == entry.waitsFor.count && !missing.isEmpty ? nil : "parked without need"
    case .held:
      if there != nil { return "held, but the remote has it" }
      let id = entry.change.id
      let isReferred = schema.entities.contains { entity in
        store.records(of: entity.type).contains { record in
          record.id != id && entity.requiredReferences(of: record).contains { $0 == id }
        }
      }
      return isReferred ? nil : "held without need"
    case .incompatible:
      guard case .upsert(let copy) = entry.change else { return "incompatible without a copy" }
      return copy.payload == there ? nil : "incompatible with a copy that the remote no longer has"
    case .quarantined:
      return there == nil ? nil : "quarantined, but the remote has a good copy"
    case .staged, .missing, .hidden:
      return "still \(entry.kind)"
    }
  }

  private func withheld() async throws -> [WithheldChange.Key: WithheldChange] {
    let types = schema.entities.map(\.type)
    let entries = try await store.read { (snapshot) throws(SyncError) in
      var all: [WithheldChange] = []
      for type in types {
        all += try snapshot.withheld(
          type, kinds: Set(WithheldChange.Kind.allCases), after: nil, limit: 10_000)
      }
      return all
    }
    return Dictionary(uniqueKeysWithValues: entries.map { ($0.key, $0) })
  }

  private func remoteStates(_ payload: Payload?) -> String {
    payload.map { String(decoding: $0.bytes, as: UTF8.self) } ?? "nothing"
  }
}

extension SyncResult {
  /// Whether every fetched change is counted once by its outcome, over all types.
  var isBalanced: Bool { total.fetched == total.outcomes - total.swept }
}
