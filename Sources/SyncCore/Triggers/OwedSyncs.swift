import SyncModels

/// Triggers that were ignored because the network was known to be away.
///
/// Each of them is owed a sync. Any planned sync settles that.
struct OwedSyncs: Hashable, Sendable {
  /// A trigger, and the types to sync first.
  struct Request: Hashable, Sendable {
    var trigger: SyncTrigger
    var first: [RecordType]
  }
  private var requests: [Request] = []

  var isEmpty: Bool { requests.isEmpty }

  /// Adds a trigger, unless it is time in the background.
  ///
  /// Time in the background is over when the network is back, and comes again by itself.
  mutating func add(_ trigger: SyncTrigger, first: [RecordType]) {
    guard !trigger.isTimeInTheBackground else { return }
    let request = Request(trigger: trigger, first: first)
    if !requests.contains(request) { requests.append(request) }
  }

  /// Adds each trigger of a run that was dropped or found no network.
  mutating func add(_ run: TriggerMachine.Run) {
    for trigger in run.triggers { add(trigger, first: run.first) }
  }

  /// Removes and returns all requests, oldest first.
  mutating func take() -> [Request] {
    defer { requests = [] }
    return requests
  }
}
