package import CanonicalSync
import Foundation
import SyncAdapters
import Synchronization

/// A process that keeps a store in step until it is stopped, as its operators see it.
///
/// It has a log, a metrics file, the messages to the service manager, the signals, and the clean-up
/// at night. What it syncs, and when, is up to the tool.
package final class Service: Sendable {
  private struct State {
    var engine: SyncEngine?
    /// The failures since the last success, and when the first of them was.
    var failures: (count: Int, since: ContinuousClock.Instant, ofRemote: Bool)?
    var isStopping = false
  }
  package let log: ServiceLog
  /// Cancelled by a request to stop.
  package let stop = CancellationSource()
  package let options: ServiceOptions
  private let notifier = ServiceNotifier()
  private let metrics: MetricsFile?
  private let state = Mutex(State())

  /// Creates a service, which does nothing yet.
  package init(_ options: ServiceOptions) {
    self.options = options
    log = ServiceLog(isJSON: options.logsJSON, logsPages: options.logsPages)
    metrics = options.metricsFile.map { [log] in MetricsFile(path: $0, log) }
  }

  /// Runs a service until SIGTERM or Ctrl-C, or until its body ends, and ends the process.
  ///
  /// After Ctrl-C the exit code of a success is ``ExitCode/interrupted``.
  package static func main(
    _ options: ServiceOptions, isJSON: Bool,
    _ body: (Service) async throws(SyncError) -> ExitCode
  ) async -> Never {
    let service = Service(options)
    let (log, stop) = (service.log, service.stop)
    // A service manager's stop request is not an interruption: the current work is saved, as
    // always.
    let termination = Interrupt(on: [SIGTERM], secondTime: { _exit(ExitCode.failure.rawValue) }) {
      stop.cancel()
    }
    let interrupt = Interrupt(on: [SIGINT]) { stop.cancel() }
    var code: ExitCode
    do throws(SyncError) {
      code = try await body(service)
    } catch {
      let entry = LogEntry(
        "failed", ("code", .string(error.code.description)), ("error", .string("\(error)")))
      log.write(entry.asWarning)
      if let hint = error.hint { log.notice(hint, isWarning: true) }
      if isJSON { StandardStream.output.line(error.json) }
      code = .failure
    }
    let signal: JSON? = interrupt.hasCome ? "SIGINT" : termination.hasCome ? "SIGTERM" : nil
    log.write(LogEntry("stopped", ("by", signal)))
    if interrupt.hasCome, code == .success { code = .interrupted }
    code.endProcess()
  }

  /// What an engine of the service reports its events to.
  package var observers: [any SyncObserver] { [log] + counters }

  /// The same without the log.
  package var counters: [any SyncObserver] { metrics.map { [$0] } ?? [] }

  /// The engine of the store that the signs of life, the metrics and the clean-up are about.
  package var engine: SyncEngine? {
    get { state.withLock { $0.engine } }
    set { state.withLock { $0.engine = newValue } }
  }

  /// Does the service's work, and meanwhile writes the metrics and gives signs of life.
  ///
  /// The work ends soon after ``stop`` is cancelled, or earlier.
  package func run(_ work: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.metrics?.run(self) }
      group.addTask {
        // A store that no longer answers, as on a disk that hangs, is a reason to be restarted.
        await self.notifier.watch { _ = try? await self.engine?.status() }
      }
      group.addTask {
        await self.stop.waitUntilCancelled()
        self.tellThatItStops()
      }
      notifier.ready()
      await work()
      tellThatItStops()
      group.cancelAll()
    }
  }

  private func tellThatItStops() {
    let isFirst = state.withLock { state in
      defer { state.isStopping = true }
      return !state.isStopping
    }
    guard isFirst else { return }
    notifier.stopping()
    log.write(LogEntry("stopping"))
  }

  /// Writes the metrics once more, for those who read them after the end.
  package func writeMetrics() async { await metrics?.write(self) }

  /// Handles an event of a coordinator, which decides when the service syncs.
  package func receive(_ event: SyncCoordinator.Event) {
    if let entry = LogEntry(event) { log.write(entry) }
    notifier.tell(event)
    if case .finished(_, let outcome) = event { note(outcome) }
  }

  /// Handles the outcome of a poll, without a line of its own in the log.
  package func receive(_ outcome: SyncOutcome) {
    notifier.tell(.finished([], outcome))
    note(outcome)
  }

  /// Counts failures, and tells when they are over.
  private func note(_ outcome: SyncOutcome) {
    let error: SyncError?
    switch outcome {
    case .completed(let result): error = result.failures.first?.error
    case .unavailable(let failure), .failed(let failure): error = failure
    case .stopped: return
    }
    let past = state.withLock { state in
      let past = state.failures
      state.failures = error.map { error in
        (
          (past?.count ?? 0) + 1, past?.since ?? .now,
          (past?.ofRemote ?? true) && !error.code.isOfThisMachine
        )
      }
      return error == nil ? past : nil
    }
    guard let past else { return }
    let time = past.since.duration(to: .now)
    var entry = LogEntry(
      past.ofRemote ? "remote.back" : "recovered", ("failures", .integer(past.count)),
      ("seconds", .double((time / .seconds(1)).rounded())))
    entry.words =
      "\(past.ofRemote ? "The server is back" : "Syncs succeed again"), after \(Counted(past.count, "failure").grouped) in \(time.roughly)."
    log.write(entry)
  }
}

extension SyncError.Code {
  /// Whether the failure is of the store or of another process, and tells nothing of the remote.
  fileprivate var isOfThisMachine: Bool {
    switch self {
    case .syncAlreadyInProgress, .leaseLost, .storeBusy, .storeFailure, .storeFull: true
    default: false
    }
  }
}

extension Service {
  /// The clean-up as work for a coordinator; `nil` if none is asked for.
  package var cleanUp: SyncCoordinator.Work? {
    guard options.hidesAfter != nil else { return nil }
    return { token throws(SyncError) in try await self.performCleanUp(token) }
  }

  /// Hides and forgets old records if that is asked for, and logs their number.
  package func performCleanUp(_ token: any CancellationToken) async throws(SyncError) {
    guard let age = options.hidesAfter, let engine else { return }
    // Referring records go before their targets, which stay while they are referred to.
    let types = engine.schema.entities.reversed().map(\.type)
    let policy = CleanupPolicy(types.map { .hide($0, olderThan: age, by: .modification) })
    let report = try await engine.cleanUp(policy, token: token)
    log.write(
      LogEntry(
        "cleaned-up", ("outcome", report.wasCancelled ? "stopped" : "completed"),
        ("hidden", Self.sum(report.hidden)), ("spared", Self.sum(report.spared))))
  }

  /// The sum; `nil` for zero, which is not logged.
  private static func sum(_ counts: [RecordType: Int]) -> JSON? {
    let sum = counts.values.reduce(0, +)
    return sum > 0 ? .integer(sum) : nil
  }
}
