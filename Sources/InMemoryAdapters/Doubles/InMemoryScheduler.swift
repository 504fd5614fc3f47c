public import SyncModels
public import SyncPorts
import Synchronization

/// A background scheduler in memory that begins each request at its earliest time.
///
/// It uses an injected clock, so a test runs a day in a moment. The time zone is a table. Work
/// expires after a limit, or with ``expire()``. Work of the two kinds may run at the same time.
public final class InMemoryScheduler: BackgroundScheduler {
  /// A pending request, and when it begins.
  public struct Pending: Hashable, Sendable {
    /// The request.
    public var request: BackgroundRequest
    /// When it begins.
    public var begin: Timestamp
  }

  /// Work that has begun.
  public struct Begun: Hashable, Sendable {
    /// The kind of its request.
    public var kind: BackgroundRequest.Kind
    /// When it was begun.
    public var at: Timestamp
    /// The outcome of the work; `nil` while it runs.
    public var outcome: BackgroundOutcome?
  }

  private struct State {
    var pending: [BackgroundRequest.Kind: Pending] = [:]
    var begun: [Begun] = []
    var tokens: [BackgroundRequest.Kind: CancellationSource] = [:]
    var refusal: SyncError?
    /// Cancelled when a request arrives. A new source then replaces it.
    var change = CancellationSource()
  }

  private let state = Mutex(State())
  private let power = ValueFeed(true)
  private let clock: any SyncPorts.Clock<Duration>
  private let zone: UTCOffsets
  private let limit: Duration?
  private let connectivity: (any ConnectivityMonitor)?

  /// Creates a scheduler without requests.
  ///
  /// - Parameters:
  ///   - clock: The clock for waits and for the time of day.
  ///   - zone: The app's time zone.
  ///   - limit: The time after which work expires; `nil` for no limit.
  ///   - connectivity: The state of the network, for requests that need it.
  public init(
    clock: any SyncPorts.Clock<Duration> = ContinuousClock(), zone: UTCOffsets = UTCOffsets(),
    limit: Duration? = nil, connectivity: (any ConnectivityMonitor)? = nil
  ) {
    self.clock = clock
    self.zone = zone
    self.limit = limit
    self.connectivity = connectivity
  }

  /// The pending requests, by kind.
  public var pending: [BackgroundRequest.Kind: Pending] { state.withLock { $0.pending } }

  /// The work begun so far, oldest first.
  public var begun: [Begun] { state.withLock { $0.begun } }

  /// The error for further requests; `nil` to accept them.
  public var refusal: SyncError? {
    get { state.withLock { $0.refusal } }
    set { state.withLock { $0.refusal = newValue } }
  }

  /// Whether the machine has external power, for requests that need it.
  public var hasExternalPower: Bool {
    get { power.value }
    set { power.send(newValue) }
  }

  /// Expires the running work.
  public func expire() {
    for token in state.withLock({ Array($0.tokens.values) }) { token.cancel() }
  }

  /// Accepts a request, which replaces the pending one of its kind.
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

  /// Passes each due request to the work, until the calling task is cancelled.
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
      if clock.timestamp < next.begin {
        await first(change) { try? await self.clock.pause(until: next.begin) }
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

  /// Waits until an operation ends or another request arrives.
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
      // Removed first, because the work submits the next request of its kind.
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
