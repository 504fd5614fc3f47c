import InMemoryAdapters
import SyncModels
import SyncPorts

/// A sink of a remote that stores and answers records in its own way.
struct CapriciousSink: ForwardingSink {
  let base: any RemoteRecordSink
  let moods: Moods
  /// Whether the remote stores an odd name as the even one before it, and answers what was sent.
  let normalises: Bool

  func sent(_ change: OutgoingChange) -> OutgoingChange {
    let plain = moods.plain(change)
    return normalises ? plain.normalised : plain
  }

  func answers(
    _ outcomes: [PushOutcome], to changes: [OutgoingChange], _ entities: SyncSchema
  ) -> [PushOutcome] {
    zip(changes, outcomes).map { change, outcome in
      switch outcome {
      case .accepted(.upsert(var record)):
        let (plain, form) = (moods.plain(change), sent(change))
        if form != plain, record.payload == form.content.payload, let payload = plain.content.payload,
          let fields = try? entities[change.id.type]?.fields(of: payload)
        {
          moods.noteNormalised()
          (record.payload, record.fields) = (payload, fields)
        }
        return .accepted(moods.varied(.upsert(record)))
      case .moved(let record):
        if case .upsert(let varied) = moods.varied(.upsert(record)) { return .moved(varied) }
        return outcome
      case .conflict(let state?): return .conflict(moods.varied(state))
      default: return outcome
      }
    }
  }
}

extension OutgoingChange {
  /// The change with the even name before an odd one.
  fileprivate var normalised: OutgoingChange {
    guard case .upsert(let payload, let schemaVersion) = content, var fields = try? FieldMap(payload),
      let name = fields["name"], let number = Int(String(decoding: name, as: UTF8.self)), number % 2 == 1
    else { return self }
    var change = self
    fields["name"] = Array("\(number - 1)".utf8)[...]
    change.content = .upsert(fields.payload, schemaVersion: schemaVersion)
    return change
  }
}
