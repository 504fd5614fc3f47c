import CanonicalSync
import InMemoryAdapters
import Synchronization

@testable import SyncCore

/// A coordinator with all of its ports, in virtual time.
final class CoordinatorWorld: Sendable {
  /// A signal to the coordinator.
  enum Signal: Hashable, Sendable {
    case online, offline, unknown, wifi, cellular
    case launch, foreground, background, request, push
    case ifStale(Duration)
    case remoteFails(times: Int)
  }

  /// A signal with its time in seconds.
  struct Moment: Hashable, Sendable {
    var second: Double
    var signal: Signal

    init(_ second: Double, _ signal: Signal) {
      self.second = second
      self.signal = signal
    }
  }

  let time: VirtualTime
  let clock: ManualClock
  let remote: InMemoryRemote
  let store: InMemoryStore
  let connectivity: ManualConnectivity
  let scheduler: InMemoryScheduler
  let engine: SyncEngine
  let coordinator: SyncCoordinator
  private let log: EventLog
  private let underWay = Mutex(0)

  init(
    connectivity: Connectivity = .online, latency: Duration = .zero, zone: UTCOffsets = UTCOffsets(),
    limit: Duration? = nil, engineOptions: SyncOptions = SyncOptions(retry: RetryPolicy(attempts: 1)),
    options: SyncCoordinator.Options = SyncCoordinator.Options(), clock: ManualClock = ManualClock(),
    remote: InMemoryRemote? = nil, store: InMemoryStore? = nil, pushes: Bool = false,
    source: (any RemoteRecordSource)? = nil, isWatched: Bool = true,
    push: SyncCoordinator.Work? = nil, cleanUp: SyncCoordinator.Work? = nil,
    observe: @escaping @Sendable (SyncCoordinator.Event) -> Void = { _ in }
  ) async throws {
    var configuration = InMemoryRemote.Configuration.privateZone
    configuration.latency = latency
    let monitor = ManualConnectivity(connectivity)
    let log = EventLog(clock)
    self.clock = clock
    self.log = log
    time = VirtualTime(clock)
    self.connectivity = monitor
    self.remote = remote ?? InMemoryRemote(configuration: configuration, clock: clock)
    self.store = store ?? InMemoryStore(leaseClock: { clock.timestamp })
    scheduler = InMemoryScheduler(clock: clock, zone: zone, limit: limit, connectivity: monitor)
    engine = try await SyncEngine(
      schema: SyncSchema(World.teams, World.games), store: self.store, source: source ?? self.remote,
      sink: pushes ? self.remote : nil, clock: clock, options: engineOptions,
      connectivity: isWatched ? monitor : nil, random: RepeatedNumber())
    coordinator = SyncCoordinator(
      engine: engine, scheduler: scheduler, options: options, push: push, cleanUp: cleanUp,
      observe: {
        log.append($0)
        observe($0)
      })
  }

  /// Runs the coordinator during a body, then stops it and waits for its end.
  func running(_ body: () async throws -> Void) async rethrows {
    let task = Task(executorPreference: time) {
      self.underWay.withLock { $0 += 1 }
      await self.coordinator.run()
      self.underWay.withLock { $0 -= 1 }
    }
    time.settle()
    defer {
      task.cancel()
      time.settle()
    }
    try await body()
  }

  /// Plays some signals, advances the time to the end, and stops.
  func play(_ moments: [Moment], until end: Double) async {
    await running {
      for moment in moments {
        time.pass(until: .seconds(moment.second))
        signal(moment.signal)
        time.settle()
      }
      time.pass(until: .seconds(end))
    }
  }

  func signal(_ signal: Signal) {
    switch signal {
    case .online: connectivity.connectivity = .online
    case .offline: connectivity.connectivity = .offline
    case .unknown: connectivity.connectivity = .unknown
    case .wifi: connectivity.status = NetworkStatus(.online, interface: .wifi)
    case .cellular: connectivity.status = NetworkStatus(.online, interface: .cellular)
    case .launch: coordinator.launch()
    case .foreground: coordinator.foreground()
    case .background: coordinator.background()
    case .request: coordinator.requestSync()
    case .push: coordinator.pushSignal()
    case .ifStale(let age): coordinator.requestSyncIfStale(olderThan: age)
    case .remoteFails(let times):
      remote.behave(.fail(SyncError(.remoteUnavailable, during: "asking")), onNext: times)
    }
  }

  var events: [(second: Double, event: SyncCoordinator.Event)] { log.events }

  /// The start times of syncs, in seconds.
  var runs: [Double] {
    events.compactMap { if case .started = $0.event { $0.second } else { nil } }
  }

  /// The triggers of each sync.
  var reasons: [[SyncTrigger]] {
    events.compactMap { if case .started(let triggers) = $0.event { triggers } else { nil } }
  }

  /// The decision on each trigger.
  var decisions: [SyncDecision] {
    events.compactMap { if case .trigger(_, let decision) = $0.event { decision } else { nil } }
  }

  /// Whether no task waits and no stream is in use.
  var isQuiet: Bool {
    clock.sleepers == 0 && connectivity.subscribers == 0 && coordinator.subscribers == 0
      && coordinator.status.state == .stopped && !coordinator.workSignal.isAwaited
      && underWay.withLock { $0 } == 0
  }
}

/// Events with their times in seconds.
private final class EventLog: Sendable {
  private let state = Mutex<[(second: Double, event: SyncCoordinator.Event)]>([])
  private let clock: ManualClock

  init(_ clock: ManualClock) {
    self.clock = clock
  }

  var events: [(second: Double, event: SyncCoordinator.Event)] { state.withLock { $0 } }

  func append(_ event: SyncCoordinator.Event) {
    // Rounded to milliseconds, so that equal times compare equal.
    let second = (clock.now.offset / .milliseconds(1)).rounded() / 1000
    state.withLock { $0.append((second, event)) }
  }
}
