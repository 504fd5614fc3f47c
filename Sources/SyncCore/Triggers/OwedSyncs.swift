import SyncModels

/// Triggers that were passed over because the network was known to be away.
///
/// A sync was promised for them. Any sync that is planned keeps that promise.
struct OwedSyncs: Hashable, Sendable {
  /// A trigger, and the types that were to go first.
  struct Request: Hashable, Sendable {
    var trigger: SyncTrigger
    var first: [RecordType]
  }
  private var requests: [Request] = []

  var isEmpty: Bool { requests.isEmpty }

  /// Owes a trigger a sync. Time in the background is over by then, and comes again by itself.
  mutating func add(_ trigger: SyncTrigger, first: [RecordType]) {
    guard !trigger.isTimeInTheBackground else { return }
    let request = Request(trigger: trigger, first: first)
    if !requests.contains(request) { requests.append(request) }
  }

  /// Owes each trigger of a run that will not be, or that found no network.
  mutating func add(_ run: TriggerMachine.Run) {
    for trigger in run.triggers { add(trigger, first: run.first) }
  }

  /// Takes what is owed, the oldest first.
  mutating func take() -> [Request] {
    defer { requests = [] }
    return requests
  }
}
