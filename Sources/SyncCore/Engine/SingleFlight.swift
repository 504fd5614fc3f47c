import SyncModels
import SyncPorts

/// Lets one caller sync at a time, by the decisions of ``FlightMachine``.
///
/// The other callers are refused, share its result, or sync after it.
final class SingleFlight: Sendable {
  private typealias Landing = Result<SyncResult, SyncError>
  private enum Turn {
    case lead(first: [RecordType])
    case share(Landing)
  }
  private struct State {
    var machine = FlightMachine()
    /// Turns of callers that do not wait yet.
    var turns: [Int: Turn] = [:]
  }
  private let queue = WaitQueue<State, Turn>(State())

  /// Runs the body, or waits for a sync that covers the caller's request.
  ///
  /// - Parameters:
  ///   - raise: Puts the caller's types first in the running sync that it shares.
  ///   - body: Syncs, with some types first.
  /// - Throws: What the body throws; `syncAlreadyInProgress` for a second caller that asks to be
  ///   refused.
  func run(
    _ scope: SyncScope, ifBusy: SyncRequest.Busy, stop: StopSignal, clock: any Clock<Duration>,
    raise: ([RecordType]) -> Void,
    _ body: (_ first: [RecordType]) async throws(SyncError) -> SyncResult
  ) async throws(SyncError) -> SyncResult {
    switch queue.update({ state, _ in state.machine.arrive(scope, ifBusy: ifBusy) }) {
    case .refused:
      throw SyncError(
        .syncAlreadyInProgress, during: "starting a sync", "A sync is running in this process.")
    case .lead:
      return try await lead(first: scope.first, body)
    case .wait(let id, let sharesThisOne):
      if sharesThisOne, !scope.first.isEmpty { raise(scope.first) }
      switch await stop.cancelling(clock: clock, { await self.turn(of: id) }) {
      case nil:
        return SyncResult(wasCancelled: true)
      case .share(let landing):
        return try landing.get()
      case .lead(let first):
        guard !stop.isRaised else {
          land(.success(SyncResult(wasCancelled: true)))
          return SyncResult(wasCancelled: true)
        }
        return try await lead(first: first, body)
      }
    }
  }

  private func lead(
    first: [RecordType], _ body: ([RecordType]) async throws(SyncError) -> SyncResult
  ) async throws(SyncError) -> SyncResult {
    let landing = await Landing(of: { () throws(SyncError) in try await body(first) })
    land(landing)
    return try landing.get()
  }

  private func land(_ landing: Landing) {
    queue.update { state, callers in
      for (id, step) in state.machine.landed(wasStopped: landing.wasCancelled) {
        let turn: Turn =
          switch step {
          case .lead(let first): .lead(first: first)
          case .share: .share(landing)
          }
        if !callers.deliver(turn, to: id) { state.turns[id] = turn }
      }
    }
  }

  /// Waits for a caller's turn; `nil` if its task was cancelled before.
  ///
  /// A turn that was given is always taken.
  private func turn(of id: Int) async -> Turn? {
    await queue.wait(as: id) { state in
      state.turns.removeValue(forKey: id)
    } leave: { state in
      state.machine.leave(id)
    }
  }
}

extension Result where Success == SyncResult {
  fileprivate var wasCancelled: Bool {
    if case .success(let result) = self { result.wasCancelled } else { false }
  }
}

/// Decides which of several callers syncs, and which share its result or sync later.
///
/// One caller leads at a time. A caller that joins shares the running sync if that covers its
/// request. A caller that follows needs a sync that begins after its call, and so does a caller
/// that joins without being covered. When the leader is done, the waiting caller that covers most
/// of the others leads next, and those that it covers share its result.
struct FlightMachine {
  /// The decision on a new caller.
  enum Clearance: Hashable {
    case lead
    /// The caller waits, and shares the running sync or a later one.
    case wait(Int, sharesThisOne: Bool)
    case refused
  }

  /// The step of a caller that has waited.
  enum Turn: Hashable {
    /// It syncs, with these types first.
    case lead(first: [RecordType])
    /// It shares the sync that has just ended.
    case share
  }

  private struct Waiter {
    let id: Int
    let scope: SyncScope
    var isServed: Bool
  }

  private var underWay: SyncScope?
  private var nextID = 0
  /// The waiting callers, in the order of their calls.
  private var waiters: [Waiter] = []

  /// Decides on a new caller.
  mutating func arrive(_ scope: SyncScope, ifBusy: SyncRequest.Busy) -> Clearance {
    guard let underWay else {
      underWay = scope
      return .lead
    }
    guard ifBusy != .refuse else { return .refused }
    nextID += 1
    let isServed = ifBusy == .join && underWay.covers(scope)
    waiters.append(Waiter(id: nextID, scope: scope, isServed: isServed))
    return .wait(nextID, sharesThisOne: isServed)
  }

  /// Removes a caller that no longer waits.
  mutating func leave(_ id: Int) {
    waiters.removeAll { $0.id == id }
  }

  /// Ends the leader's turn, and picks the next leader.
  ///
  /// - Parameter wasStopped: Whether the leader was stopped, which leaves its work to the others.
  /// - Returns: The callers that continue, in the order of their calls, the next leader last.
  mutating func landed(wasStopped: Bool) -> [(id: Int, turn: Turn)] {
    var turns: [(id: Int, turn: Turn)] = []
    if !wasStopped {
      turns = waiters.filter(\.isServed).map { ($0.id, .share) }
      waiters.removeAll(where: \.isServed)
    }
    underWay = nil
    guard let leader = nextLeader() else { return turns }
    leave(leader.id)
    underWay = leader.scope
    var first = leader.scope.first
    for index in waiters.indices {
      let scope = waiters[index].scope
      waiters[index].isServed = leader.scope.covers(scope)
      if waiters[index].isServed { first += scope.first.filter { !first.contains($0) } }
    }
    return turns + [(leader.id, .lead(first: first))]
  }

  /// Returns the waiter that covers most of the others, the first of equals.
  private func nextLeader() -> Waiter? {
    var best: (waiter: Waiter, covered: Int)?
    for waiter in waiters {
      let covered = waiters.count { waiter.scope.covers($0.scope) }
      if covered > best?.covered ?? 0 { best = (waiter, covered) }
    }
    return best?.waiter
  }
}

/// The effects of a sync that decide whether it covers another caller's request.
struct SyncScope: Hashable, Sendable {
  /// The types that are synced, all of them named.
  var types: Set<RecordType>
  /// The types that are listed completely.
  var fullPull: Set<RecordType>
  var versionsStartOver = false
  var pulls: Bool
  var pushes: Bool
  var allowsMassDeletion: Bool
  /// The revision of the filters; the sync may have later ones.
  var filters: Int
  /// The types that go first.
  ///
  /// Order leaves nothing out, so it does not count in ``covers(_:)``.
  var first: [RecordType]

  /// Creates the scope of a request.
  ///
  /// - Parameter canPush: Whether there is a sink; without one a sync of both directions is a pull.
  /// - Throws: `invalidConfiguration` for a type that is not declared, and for a push without a
  ///   sink.
  init(_ request: SyncRequest, of schema: SyncSchema, canPush: Bool, filters: Int = 0) throws(SyncError) {
    for type in (request.types ?? []) + request.fullPull + request.priority {
      _ = try schema.entity(type, during: "starting a sync")
    }
    if request.direction == .push, !canPush {
      throw SyncError(
        .invalidConfiguration, during: "starting a sync", "There is no sink that edits could be pushed to.")
    }
    types = Set(request.types ?? schema.entities.map(\.type))
    pulls = request.direction != .push
    pushes = request.direction != .pull && canPush
    fullPull = pulls ? request.fullPull.intersection(types) : []
    versionsStartOver = request.versionsStartOver && !fullPull.isEmpty
    allowsMassDeletion = request.allowsMassDeletion
    self.filters = filters
    first = request.priority
  }

  /// Whether this sync does everything that the other scope asks for.
  ///
  /// A partial order, apart from ``first``: each scope covers itself, and covering is transitive.
  func covers(_ other: SyncScope) -> Bool {
    types.isSuperset(of: other.types) && fullPull.isSuperset(of: other.fullPull)
      && (versionsStartOver || !other.versionsStartOver)
      && (pulls || !other.pulls) && (pushes || !other.pushes)
      && (allowsMassDeletion || !other.allowsMassDeletion || !other.pulls)
      && (filters >= other.filters || !other.pulls)
  }
}

extension SyncError {
  /// Whether the failure concerns one type, and the others can still be pulled.
  var endsOneTypeAlone: Bool {
    code == .quotaExceeded || code == .permissionDenied || code == .inconsistentData
      || code == .invalidResponse || code == .invalidConfiguration
  }
}

extension PassOutcomes {
  /// Records that a pass continued or was completed.
  mutating func countAttempt(at now: Timestamp, isComplete: Bool) {
    lastAttempt = now
    guard isComplete else { return }
    lastSuccess = now
    lastError = nil
    consecutiveFailures = 0
    successes = successes.addingOne
  }

  /// Records that a pass failed.
  mutating func countFailure(_ error: SyncError, at now: Timestamp) {
    lastAttempt = now
    lastError = Failure(error, at: now)
    consecutiveFailures = consecutiveFailures.addingOne
    failures = failures.addingOne
  }
}

extension PassOutcomes.Failure {
  /// Records an error that occurred now.
  init(_ error: SyncError, at now: Timestamp) {
    self.init(
      code: error.code.description, message: error.description, retryAt: error.retryAfter.map { now + $0 })
  }
}

extension SyncSchema {
  /// Returns the declaration of a type that a caller names.
  ///
  /// - Throws: `invalidConfiguration` if the type is not declared.
  func entity(_ type: RecordType, during operation: String) throws(SyncError) -> Entity {
    if let entity = self[type] { return entity }
    throw SyncError(.invalidConfiguration, during: operation, "The record type \(type) is not declared.")
  }
}
