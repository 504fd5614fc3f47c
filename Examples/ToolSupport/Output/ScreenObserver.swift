package import CanonicalSync
import Synchronization

/// Shows a sync's progress, and the events that a person should see.
package final class ScreenObserver: SyncObserver {
  private let screen: ProgressBar
  private let quarantined = Mutex(0)
  private static let mentioned = 10

  /// Creates an observer that writes to a progress bar.
  package init(_ screen: ProgressBar) {
    self.screen = screen
  }

  /// Shows an event, if a person should see it.
  package func receive(_ event: SyncEvent) {
    switch event {
    case .pageCommitted(let page) where page.fetched > 0:
      screen.show(page.type.rawValue, done: page.fetched, total: page.total)
    case .retrying(let type, let attempt, let pause, let error):
      screen.say("\(type): \(error.code); attempt \(attempt) in \(pause).")
    case .reset(let type, let reason):
      screen.say("\(type): the remote lists everything again (\(reason.rawValue)).")
    case .quarantined(let malformed):
      mention(malformed)
    case .sweepRefused(let type, let refusal):
      screen.say("\(type): nothing was removed: \(refusal.sentence).")
      if case .massDeletion = refusal { screen.say("  --allow-mass-deletion lets them go.") }
    case .entityFailed(let type, let error):
      screen.say("\(type): \(error)")
    case .undecodable(let id, let reason):
      screen.say("\(id) cannot be shown: \(reason)")
    case .conflict(let conflict, true):
      screen.say("\(conflict.id) was edited here and there: \(conflict.reason).")
    case .policyFailed(let id, let reason):
      screen.say("\(id): the result of the merge policy is invalid: it \(reason).")
    case .clockAhead(let id, let ahead):
      screen.say(
        "\(id) has a time that is \(ahead) ahead of this machine's clock; the clock does not follow it.")
    case .editRefused(let id, let reason):
      screen.say("\(id): the remote refuses the edit: \(reason)")
    case .remoteStorageFull(let pending):
      screen.say("The remote is full: \(Counted(pending, "edit waits", "edits wait").grouped).")
    case .conflict(_, false), .pushFinished, .edited, .hidden, .started, .entityStarted, .pageCommitted,
      .entityFinished, .finished, .failed, .lost:
      break
    }
  }

  private func mention(_ malformed: MalformedRecord) {
    let count = quarantined.withLock { count in
      count += 1
      return count
    }
    guard count <= Self.mentioned else { return }
    let place = malformed.location ?? malformed.id?.description ?? malformed.type.rawValue
    screen.say("\(place): withheld, \(malformed.reason).")
    if count == Self.mentioned {
      screen.say("More records are withheld: `sync-inspect quarantine` lists them.")
    }
  }
}
