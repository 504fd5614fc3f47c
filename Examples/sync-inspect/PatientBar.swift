import CanonicalSyncToolSupport
import SyncMaintenance

/// The progress of work on a whole store, which is shown only if it takes longer than a second.
struct PatientBar: Sendable {
  private let bar = ProgressBar()
  private let began = ContinuousClock.now

  /// Shows how far the work has come.
  func show(_ progress: MaintenanceProgress) {
    guard ContinuousClock.now - began > .seconds(1) else { return }
    bar.show(progress.label, done: progress.done, total: nil)
  }

  /// Says that a step begins or is done.
  func say(_ line: String) { bar.say(line) }

  /// Leaves the last state there.
  func finish() { bar.finish() }
}
