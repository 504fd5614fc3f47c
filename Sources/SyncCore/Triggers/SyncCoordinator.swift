public import SyncModels
public import SyncPorts
import Synchronization

/// Decides when to sync, and runs the syncs.
///
/// ```swift
/// let coordinator = SyncCoordinator(engine: engine, scheduler: scheduler)
/// coordinator.launch()
/// await coordinator.run()  // until the task is cancelled
/// ```
///
/// All triggers are reported to the coordinator. The signals are ``launch()``, ``foreground()``,
/// ``background()``, ``requestSync(first:)``, ``requestSyncIfStale(olderThan:)`` and
/// ``pushSignal(first:)``. They are synchronous, may be called from any thread, and only record the
/// trigger. The coordinator watches the network through the engine's own monitor. All work is done
/// inside ``run()``, one sync at a time. Signals from before ``run()`` are decided when it starts.
///
/// A sync is one step: *push, then pull*. Clean-up follows if the system gave processing time. An
/// unreachable remote is not a failure: the app goes on using its local data, and
/// ``Status/nextSync`` gives the time of the next attempt and the reason for it.
public final class SyncCoordinator: Sendable {
  /// A part of the work that the app provides.
  ///
  /// It stops soon after the token is cancelled, and keeps what it has done.
  public typealias Work = @Sendable (any CancellationToken) async throws(SyncError) -> Void

  let engine: SyncEngine
  let scheduler: (any BackgroundScheduler)?
  let options: Options
  let push: Work?
  let cleanUp: Work?
  let timeline: Timeline
  let workSignal = WakeSignal()
  /// Given when there are events for the observer.
  let eventSignal = WakeSignal()
  private let observe: @Sendable (Event) -> Void
  private let state: Mutex<CoordinatorState>
  private let feed: ValueFeed<Status>

  /// Creates a coordinator. It does nothing before ``run()``.
  ///
  /// - Parameters:
  ///   - engine: The engine that syncs. The coordinator uses its clock, store and connectivity
  ///     monitor.
  ///   - scheduler: Gives time in the background. Without a scheduler there is none.
  ///   - options: The triggers that are used, and the pacing.
  ///   - push: Work before each sync, for edits outside the engine's outbox. An error that it
  ///     throws fails the sync. `nil` if the engine has a sink: its syncs push by themselves.
  ///   - cleanUp: Tidies the store after the sync of a processing request, unless that sync was
  ///     stopped.
  ///   - observe: Receives every trigger and its result. Events come one at a time and in order, on
  ///     a thread that signals or works. The closure may itself send signals.
  public init(
    engine: SyncEngine, scheduler: (any BackgroundScheduler)? = nil, options: Options = Options(),
    push: Work? = nil, cleanUp: Work? = nil, observe: @escaping @Sendable (Event) -> Void = { _ in }
  ) {
    self.engine = engine
    self.scheduler = scheduler
    self.options = options
    self.push = push
    self.cleanUp = cleanUp
    self.observe = observe
    timeline = Timeline(engine.environment.clock)
    let network = engine.environment.connectivity?.status ?? NetworkStatus(.unknown)
    var debounce = DebounceMachine(settleTime: options.settleTime)
    debounce.observed(network.connectivity, at: .zero)
    state = Mutex(
      CoordinatorState(
        triggers: TriggerMachine(pacing: options.pacing, staleAge: options.staleAfter), debounce: debounce,
        network: network))
    feed = ValueFeed(Status(network: network))
  }

  /// The coordinator's current status.
  public var status: Status { feed.value }

  /// Whether requests may be made: the network is not known to be away.
  public var isOnline: Bool { engine.environment.connectivity?.connectivity != .offline }

  /// Streams the current status and each change, to one consumer.
  ///
  /// A slow consumer gets the newest sixteen.
  public func statuses() -> AsyncStream<Status> { feed.stream() }

  /// The number of consumers of ``statuses()``, by which tests detect leaks.
  package var subscribers: Int { feed.subscribers }

  /// Updates the machines to the current time, changes the state, and reports the events.
  ///
  /// All access to the state goes through here or ``note(news:)``.
  ///
  /// - Parameter news: The status from the monitor's stream.
  @discardableResult
  func update<R>(news: NetworkStatus? = nil, _ body: (inout CoordinatorState, Moment) -> R) -> R {
    let (result, orphans) = change(news: news, body)
    reportEvents()
    for ticket in orphans { ticket.resolve(nil) }
    return result
  }

  /// Updates the machines, and leaves the reporting to ``run()``, as the observer may be slow.
  func note(news: NetworkStatus? = nil) {
    let ((), orphans) = change(news: news) { _, _ in }
    for ticket in orphans { ticket.resolve(nil) }
    workSignal.signal()
    eventSignal.signal()
  }

  private func change<R>(
    news: NetworkStatus?, _ body: (inout CoordinatorState, Moment) -> R
  ) -> (R, [RunTicket]) {
    let now = timeline.now
    let connectivity = engine.environment.connectivity?.connectivity ?? .unknown
    let attempts = engine.environment.attempts.value
    return state.withLock { state in
      state.settle(news: news, connectivity, attempts, at: now)
      let result = body(&state, now)
      let orphans = state.takeOrphanedTickets(at: now)
      // Sent under the lock, so that statuses arrive in order.
      feed.send(state.status(at: now))
      return (result, orphans)
    }
  }

  /// Reports the pending events to the observer, in order.
  ///
  /// One thread at a time reports. It also reports the events that other threads and the observer
  /// itself add meanwhile.
  func reportEvents() {
    let isMine = state.withLock { state in
      defer { state.isReporting = true }
      return !state.isReporting
    }
    guard isMine else { return }
    while let event = state.withLock({ $0.nextEvent() }) { observe(event) }
  }
}
