public import SyncModels
public import SyncPorts
import Synchronization

/// Decides when to sync, and sees that it happens: the one place that everything reports to.
///
/// ```swift
/// let coordinator = SyncCoordinator(engine: engine, scheduler: scheduler)
/// coordinator.launch()
/// await coordinator.run()  // until the task is cancelled
/// ```
///
/// Signals are synchronous, come from any thread, and only take note: ``launch()``, ``foreground()``, ``background()``,
/// ``requestSync(first:)``, ``requestSyncIfStale(olderThan:)`` and ``pushSignal(first:)``. The network is watched through the
/// engine's own monitor. All work is done inside ``run()``, one sync at a time; signals from before it are decided on when it starts.
///
/// A sync is one step, *push, then pull*, and clean-up after it where the system gave time for it. That the remote cannot be reached is no
/// failure: local data go on being used, and ``Status/nextSync`` tells when it is tried again, and why then.
public final class SyncCoordinator: Sendable {
  /// A part of the work that the app brings along. It stops soon once the token is cancelled, and keeps what it has done.
  public typealias Work = @Sendable (any CancellationToken) async throws(SyncError) -> Void

  let engine: SyncEngine
  let scheduler: (any BackgroundScheduler)?
  let options: Options
  let push: Work?
  let cleanUp: Work?
  let timeline: Timeline
  let bell = WakeSignal()
  /// Rings when there is something to tell the observer.
  let untold = WakeSignal()
  private let observe: @Sendable (Event) -> Void
  private let state: Mutex<CoordinatorState>
  private let feed: ValueFeed<Status>

  /// Makes a coordinator, which does nothing before ``run()``.
  ///
  /// - Parameters:
  ///   - engine: What syncs; its clock, its store and its connectivity monitor are used here too.
  ///   - scheduler: Who gives time in the background; without one there is none.
  ///   - push: Sends what was edited here, before each pull. It returns normally where the pull should go on; what it throws is the
  ///     sync's failure.
  ///   - cleanUp: Tidies the store after the sync of a processing request, unless that was stopped.
  ///   - observe: Is told of every trigger and of what became of it, one event at a time and in their order, on a thread that signals
  ///     or works. It may signal itself.
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

  /// Where things stand.
  public var status: Status { feed.value }

  /// Whether requests may be made: the network is not known to be away.
  public var isOnline: Bool { engine.environment.connectivity?.connectivity != .offline }

  /// Where things stand now, and then each change, for one consumer; a slow one gets the newest sixteen.
  public func statuses() -> AsyncStream<Status> { feed.stream() }

  /// How many consumers ``statuses()`` has, for tests that nothing is left behind.
  package var subscribers: Int { feed.subscribers }

  /// The one way to the state: brings the machines up to now, changes something, and tells whom it concerns.
  ///
  /// - Parameter news: What the monitor's stream tells.
  @discardableResult
  func update<R>(news: NetworkStatus? = nil, _ body: (inout CoordinatorState, Moment) -> R) -> R {
    let (result, orphans) = change(news: news, body)
    tellEvents()
    for ticket in orphans { ticket.resolve(nil) }
    return result
  }

  /// Takes note of something, and leaves it to ``run()`` to tell the observer, who may take a while.
  func note(news: NetworkStatus? = nil) {
    let ((), orphans) = change(news: news) { _, _ in }
    for ticket in orphans { ticket.resolve(nil) }
    bell.ring()
    untold.ring()
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
      // Under the lock, so that statuses come in the order in which they held.
      feed.send(state.status(at: now))
      return (result, orphans)
    }
  }

  /// Tells the observer what has happened, in the order in which it did.
  ///
  /// One thread at a time tells: what others add meanwhile, and what the observer itself brings about, is told by that one, too.
  func tellEvents() {
    let isMine = state.withLock { state in
      defer { state.isTelling = true }
      return !state.isTelling
    }
    guard isMine else { return }
    while let event = state.withLock({ $0.nextEvent() }) { observe(event) }
  }
}
