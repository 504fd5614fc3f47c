package import CanonicalSync
import SyncAdapters
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
      screen.wait(type.rawValue, "\(error.code); attempt \(attempt)", for: pause)
    case .reset(let type, let reason):
      screen.say("\(type): the remote lists everything again (\(reason.rawValue)).")
    case .quarantined(let malformed):
      mention(malformed)
    case .sweepRefused(let type, let refusal):
      screen.say("\(type): nothing was removed: \(refusal.sentence).", isWarning: true)
      if case .massDeletion = refusal { screen.say("  --allow-mass-deletion lets them go.", isWarning: true) }
    case .entityFailed(let type, let error):
      screen.say("\(type): \(error)", isWarning: true)
    case .undecodable(let id, let reason):
      screen.say("\(id) cannot be shown: \(reason)", isWarning: true)
    case .targetDeleted(let id, let rule, let referrers):
      let records = Counted(referrers.count, "record refers", "records refer")
      screen.say("\(id) was deleted elsewhere, and \(records) to it here: \(rule.rawValue).")
    case .conflict(let conflict, true):
      screen.say("\(conflict.id) was edited here and there: \(conflict.reason).")
    case .policyFailed(let id, let reason):
      screen.say("\(id): the result of the merge policy is invalid: it \(reason).", isWarning: true)
    case .immutableAssigned(let id):
      screen.say("\(id): the remote writes an immutable field itself.", isWarning: true)
    case .clockAhead(let id, let ahead):
      screen.say(
        "\(id) is \(ahead.roughly) ahead of this machine's clock, which does not follow it.",
        isWarning: true)
    case .editRefused(let id, let reason):
      screen.say("\(id): the edit is refused: \(reason)", isWarning: true)
    case .remoteStorageFull(let pending):
      let edits = Counted(pending, "edit waits", "edits wait").grouped
      screen.say("The remote is full: \(edits).", isWarning: true)
    case .moved(let id, let new):
      screen.say("\(id) has the key \(new.key) now, which the remote has given it.")
    case .conflict(_, false), .pushCommitted, .pushFinished, .edited, .annotated, .hidden, .started,
      .entityStarted,
      .pageCommitted, .entityFinished, .finished, .failed, .lost:
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
    screen.say("\(place): withheld, \(malformed.reason).", isWarning: true)
    if count == Self.mentioned {
      screen.say("More records are withheld: `sync-inspect quarantine` lists them.", isWarning: true)
    }
  }
}
