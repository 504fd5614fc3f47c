import SyncModels

/// Postponed edits that were not sent since, with the times at which they are due.
///
/// A sync may last until one is due. It may then send the edit as often as at first.
struct PostponedEdits {
  private var times: [RecordID: Timestamp] = [:]
  /// Edits that the app made due by another one.
  private var edited: Set<RecordID> = []

  /// Notes an edit's new state.
  mutating func note(_ entry: OutboxEntry?) {
    guard let entry, case .postponed(let until) = entry.state else { return }
    times[entry.id] = until
  }

  /// Notes that the app has replaced an edit.
  mutating func edited(_ entry: OutboxEntry?) {
    guard let entry, case .postponed = entry.state else { return }
    edited.insert(entry.id)
  }

  /// Whether one of some edits has become due, before they are sent.
  mutating func haveBecomeDue(_ ids: [RecordID], at now: Timestamp) -> Bool {
    let due = ids.filter { id in edited.contains(id) || times[id].map { $0 <= now } ?? false }
    for id in due { times[id] = nil }
    edited.subtract(due)
    return !due.isEmpty
  }
}
