import SyncModels
import SyncPorts

/// Edits that are sent in one request.
struct PushBatch: Hashable, Sendable {
  var entries: [OutboxEntry]
  /// Whether the remote has to apply all of the edits or none of them.
  var isGroup = false

  init(_ entries: [OutboxEntry]) { self.entries = entries }

  /// The number of parts that the batch can be split into.
  var units: Int { isGroup ? 1 : entries.count }

  /// The size of the payloads to send, in bytes.
  var size: Int { entries.reduce(0) { $0 + $1.sizeToSend } }

  /// The types of the edits, in order.
  var types: [RecordType] { Set(entries.map(\.id.type)).sorted() }

  /// Whether the remote takes the batch at once.
  func fits(_ limits: SinkLimits) -> Bool {
    entries.count <= limits.maximumRecords && size <= limits.maximumBytes
  }

  /// Whether these can be the outcomes of the batch: a group is applied whole.
  func mayHave(_ outcomes: [PushOutcome]) -> Bool {
    let unapplied = outcomes.count(where: \.isNotApplied)
    if !isGroup { return unapplied == 0 }
    let applied = outcomes.count(where: \.isApplied)
    return applied == outcomes.count || applied == 0 && unapplied < outcomes.count
  }
}

extension PushOutcome {
  /// Whether another edit of the group was not applied, and so this one was not either.
  fileprivate var isNotApplied: Bool {
    if case .notApplied = self { true } else { false }
  }
}
