public import SyncModels
public import SyncPorts
import Synchronization

/// A background scheduler that lives in this process and begins each request at its earliest.
///
/// It goes by an injected clock, so a test runs a day in a moment; the time zone is a table. Work expires after a limit, or when
/// ``expire()`` says so. The two kinds may run beside each other.
public final class InMemoryScheduler: BackgroundScheduler {
  /// A request that waits, and when it begins.
  public struct Pending: Hashable, Sendable {
    /// The request.
    public var request: BackgroundRequest
    /// When it begins.
    public var begin: Timestamp
  }

  /// Work that was begun.
  public struct Begun: Hashable, Sendable {
    /// The kind of its request.
    public var kind: BackgroundRequest.Kind
    /// When it was begun.
    public var at: Timestamp
    /// How it ended; `nil` while it runs.
    public var outcome: BackgroundOutcome?
  }

  private struct State {
    var pending: [BackgroundRequest.Kind: Pending] = [:]
    var begun: [Begun] = []
    var tokens: [BackgroundRequest.Kind: CancellationSource] = [:]
    var refusal: SyncError?
    /// Cancelled when a request comes; another takes its place then.
    var change = CancellationSource()
  }

  private let state = Mutex(State())
  private let power = ValueFeed(true)
  private let clock: any SyncPorts.Clock<Duration>
  private let zone: UTCOffsets
  private let limit: Duration?
  private let connectivity: (any ConnectivityMonitor)?

  /// A scheduler without requests.
  ///
  /// - Parameters:
  ///   - clock: Waits, and tells the time of day.
  ///   - zone: The app's time zone.
  ///   - limit: How long work may take before it expires; `nil` for as long as it likes.
  ///   - connectivity: Who knows whether the network is there, for requests that need it.
  public init(
    clock: any SyncPorts.Clock<Duration> = ContinuousClock(), zone: UTCOffsets = UTCOffsets(),
    limit: Duration? = nil, connectivity: (any ConnectivityMonitor)? = nil
  ) {
    self.clock = clock
    self.zone = zone
    self.limit = limit
    self.connectivity = connectivity
  }

  /// The requests that wait, by kind.
  public var pending: [BackgroundRequest.Kind: Pending] { state.withLock { $0.pending } }

  /// The work begun so far, oldest first.
  public var begun: [Begun] { state.withLock { $0.begun } }

  /// What further requests are refused with; `nil` to take them.
  public var refusal: SyncError? {
    get { state.withLock { $0.refusal } }
    set { state.withLock { $0.refusal = newValue } }
  }

  /// Whether the machine has external power, for requests that need it.
  public var hasExternalPower: Bool {
    get { power.value }
    set { power.send(newValue) }
  }

  /// Tells the work under way that its time is up.
  public func expire() {
    for token in state.withLock({ Array($0.tokens.values) }) { token.cancel() }
  }

  /// Takes a request in place of the pending one of its kind.
  @discardableResult
  public func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp {
    let now = clock.timestamp
    let begin =
      switch request.earliest {
      case .after(let duration): now + duration
      case .next(let time): zone.next(time, after: now)
      }
    let change = try state.withLock { state throws(SyncError) in
      if let refusal = state.refusal { throw refusal }
      state.pending[request.kind] = Pending(request: request, begin: begin)
      defer { state.change = CancellationSource() }
      return state.change
    }
    change.cancel()
    return begin
  }

  /// Hands each request that comes due to the work, until the calling task is cancelled.
  public func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    await withTaskGroup(of: Void.self) { group in
      for kind in BackgroundRequest.Kind.allCases {
        group.addTask { await self.serve(kind, work) }
      }
    }
  }

  private func serve(
    _ kind: BackgroundRequest.Kind,
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    while !Task.isCancelled {
      let (next, change) = state.withLock { ($0.pending[kind], $0.change) }
      guard let next else {
        await change.waitUntilCancelled()
        continue
      }
      let wait = next.begin.duration(since: clock.timestamp)
      if wait > .zero {
        await first(change) { try? await self.clock.pause(for: wait) }
      } else if next.request.needsNetwork, let connectivity, connectivity.connectivity == .offline {
        await first(change) {
          for await status in connectivity.statuses() where status.connectivity != .offline { break }
        }
      } else if next.request.needsExternalPower, !hasExternalPower {
        await first(change) {
          for await hasPower in self.power.stream() where hasPower { break }
        }
      } else {
        await begin(kind, work)
      }
    }
  }

  /// Waits for something, or for another request, whichever comes first.
  private func first(_ change: CancellationSource, or wait: @escaping @Sendable () async -> Void) async {
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await wait() }
      group.addTask { await change.waitUntilCancelled() }
      await group.next()
      group.cancelAll()
    }
  }

  private func begin(
    _ kind: BackgroundRequest.Kind,
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async {
    let token = CancellationSource()
    let now = clock.timestamp
    let index = state.withLock { state in
      // Off the pending ones first: the work submits the next of its kind.
      state.pending[kind] = nil
      state.tokens[kind] = token
      state.begun.append(Begun(kind: kind, at: now))
      return state.begun.count - 1
    }
    let outcome = await withTaskGroup(of: BackgroundOutcome?.self) { group in
      group.addTask { await work(kind, token) }
      if let limit {
        group.addTask {
          try? await self.clock.pause(for: limit)
          if !Task.isCancelled { token.cancel() }
          return nil
        }
      }
      defer { group.cancelAll() }
      while let next = await group.next() {
        if let next { return next }
      }
      return .failed
    }
    state.withLock { state in
      state.tokens[kind] = nil
      state.begun[index].outcome = outcome
    }
  }
}
