import InMemoryAdapters
import SyncCore
import SyncModels

/// The true remote state, to check the reasons that a store gives.
struct RemoteTruth {
  /// The records, as the app reads them, without those of an unknown schema.
  private(set) var records: [RecordID: Record] = [:]
  /// The payloads, whether the app understands them or not.
  private(set) var payloads: [RecordID: Payload] = [:]
  /// Records of which the remote has only unreadable bytes.
  let malformed: Set<RecordID>
  /// Records whose edits the remote refuses permanently.
  let refused: Set<RecordID>
  /// The records that the app's last clean-ups hid.
  let rules: FinalRules?
  let now: Timestamp
  /// Whether the remote has no room for another record.
  let isFull: Bool
  /// Whether the remote refuses lookups of a type's records.
  let refusesLookups: @Sendable (RecordType) -> Bool
  /// The member that differs in each answer of the remote; `nil` for none.
  let volatileField: FieldName?
  /// Whether the rules for deleted targets are carried out, as edits can be sent and every type pulled.
  let carriesOutRules: Bool

  init(
    _ remote: InMemoryRemote, _ schema: SyncSchema, _ edits: RemoteEdits, keeps rules: FinalRules?,
    now: Timestamp, _ shape: WorldShape, hasSink: Bool, showing shows: (RecordType) -> Condition?
  ) {
    isFull = remote.isFull
    volatileField = shape.volatileField
    refusesLookups = { shape.refusesLookups(of: $0) }
    carriesOutRules = hasSink && edits.choking.isEmpty && !shape.hazards.contains(.refusedLookups)
    (malformed, refused) = (edits.malformedRecords, edits.refused.union(edits.choking))
    self.rules = rules
    self.now = now
    for entity in schema.entities {
      for (key, payload) in remote.records(of: entity.type) {
        let id = RecordID(type: entity.type, key: key)
        let fields = try? entity.fields(of: payload)
        let copy = Record(id: id, version: .unversioned, payload: payload, fields: fields ?? [])
        guard shows(entity.type)?.isSatisfied(by: copy, of: entity) ?? true else { continue }
        payloads[id] = payload
        guard let fields,
          let schema = try? entity.schemaVersion(of: payload), schema <= entity.schemaVersion
        else { continue }
        records[id] = Record(
          id: id, version: .unversioned, schemaVersion: schema, payload: payload, fields: fields)
      }
    }
  }

  /// A payload without what differs in each answer of the remote.
  func plain(_ payload: Payload) -> Payload { volatileField.map(payload.without) ?? payload }

  /// Whether another record of the remote has a value that an edit needs for itself.
  func isTaken(_ entry: OutboxEntry) -> Bool {
    guard case .refused(UniqueValuesSink.reason, _) = entry.state,
      let badge = entry.edit.content.payload.flatMap({ Badge(of: entry.id, in: $0) })
    else { return false }
    return payloads.contains { $0.key != entry.id && Badge(of: $0.key, in: $0.value) == badge }
  }

  /// The greatest set of remote records that can be shown together.
  ///
  /// Nothing in it dangles beside the visible records, and it includes circles.
  func showable(beside view: StoreView, _ schema: SyncSchema) -> Set<RecordID> {
    var showable = Set(records.keys)
    for (id, entry) in view.outbox where entry.edit.content == .deletion { showable.remove(id) }
    var count: Int
    repeat {
      count = showable.count
      showable = showable.filter { id in
        guard let record = records[id] else { return false }
        return (schema[id.type]?.requiredReferences(of: record) ?? [])
          .allSatisfy { showable.contains($0) || view.live[$0] != nil }
      }
    } while showable.count < count
    return showable
  }
}
