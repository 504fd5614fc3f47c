import InMemoryAdapters
import SyncModels
import SyncPorts

/// A remote as one process of a world pushes edits to it: requests fail, stall and kill, and all that is sent is looked over.
final class SimulatedSink: RemoteRecordSink {
  private let sink: any RemoteRecordSink
  private let incarnation: Incarnation

  init(_ sink: any RemoteRecordSink, of incarnation: Incarnation) {
    self.sink = sink
    self.incarnation = incarnation
  }

  var identity: String { sink.identity }

  func limits() async throws(SyncError) -> SinkLimits {
    try await incarnation.around(.limits) { () async throws(SyncError) in try await sink.limits() }
  }

  func push(
    _ changes: [OutgoingChange], entities: EntityGraph
  ) async throws(SyncError) -> [PushOutcome] {
    guard let type = changes.first?.id.type else { return [] }
    let (world, book) = (incarnation.world, incarnation.book)
    for words in world.watch.pushes.sending(changes) {
      world.ledger.report(.oneEffect, "\(incarnation) \(words)")
    }
    for words in book.pushing(type, at: incarnation.clock.now.offset) {
      world.ledger.report(.bounds, "\(incarnation) \(words)")
    }
    do throws(SyncError) {
      let outcomes = try await incarnation.around(.push) { () async throws(SyncError) -> [PushOutcome] in
        try await sink.push(changes, entities: entities)
      }
      book.pushed(type)
      note(changes, outcomes)
      return outcomes
    } catch {
      if error.code == .batchTooLarge || error.code == .quotaExceeded {
        book.pushed(type)
      } else {
        book.pushFailed(type, error, at: incarnation.clock.now.offset)
      }
      throw error
    }
  }

  private func note(_ changes: [OutgoingChange], _ outcomes: [PushOutcome]) {
    let (world, ledger) = (incarnation.world, incarnation.world.ledger)
    for (change, outcome) in zip(changes, outcomes) {
      incarnation.trace("pushes \(change.id): \(Self.words(outcome))")
      switch outcome {
      case .accepted(let word):
        ledger.saw(.pushed)
        world.watch.heard([word])
      case .conflict(let word):
        ledger.saw(.pushMetAnother)
        if let word { world.watch.heard([word]) }
      case .refused, .retryLater: ledger.saw(.editRefused)
      case .quotaExceeded: ledger.saw(.remoteFull)
      }
    }
  }

  private static func words(_ outcome: PushOutcome) -> String {
    switch outcome {
    case .accepted: "taken"
    case .conflict(nil): "there is no such record"
    case .conflict: "there is another copy"
    case .refused: "refused"
    case .retryLater: "not now"
    case .quotaExceeded: "no room"
    }
  }
}
