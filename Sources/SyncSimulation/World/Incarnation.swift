import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// One life of a process, from its start to its end or to its kill.
///
/// Tasks cannot be destroyed, so a killed process still unwinds. None of its calls has an effect.
final class Incarnation: Sendable, CustomStringConvertible {
  let world: World
  let process: Int
  let life: Int
  let version: AppVersion
  let clock: ManualClock
  let schema: SyncSchema
  let book: SyncBook
  let connectivity = ManualConnectivity()

  private struct State {
    var isDead = false
    var end: (@Sendable () -> Void)?
    var causes: Set<SyncError.Code> = []
    var lastStall = Duration.zero
    var request: SyncRequest?
    var engine: SyncEngine?
    var store: (any LocalStore)?
    var isLoading = false
  }
  private let state = Mutex(State())

  init(
    world: World, process: Int, life: Int, version: AppVersion, schema: SyncSchema, clock: ManualClock
  ) {
    self.world = world
    self.process = process
    self.life = life
    self.version = version
    self.schema = schema
    self.clock = clock
    book = SyncBook(options: world.shape.options)
  }

  var description: String { life == 1 ? "app \(process)" : "app \(process).\(life)" }

  func trace(
    as kind: WorldEvent.Kind = .note, _ words: @autoclosure () -> String,
    facts: @autoclosure () -> WorldEvent.Facts = .none
  ) {
    world.trace.tell(description, as: kind, words(), facts: facts())
  }

  // MARK: Life and death

  var isDead: Bool { state.withLock { $0.isDead } }
  var engine: SyncEngine? { state.withLock { $0.engine } }
  var store: (any LocalStore)? { state.withLock { $0.store } }

  /// Whether the bundled data set is being loaded.
  var isLoading: Bool {
    get { state.withLock { $0.isLoading } }
    set { state.withLock { $0.isLoading = newValue } }
  }

  /// Sets the function that ends the tasks of a killed process.
  func setEnd(_ end: @escaping @Sendable () -> Void) {
    let isDead = state.withLock { state in
      state.end = end
      return state.isDead
    }
    if isDead { end() }
  }

  /// Kills the process: its later calls have no effect.
  func kill() {
    let end = state.withLock { state in
      state.isDead = true
      return state.end
    }
    trace(as: .crash, "is killed")
    end?()
  }

  /// Releases all references to the process after the end of the world.
  func takeApart() {
    let old = state.withLock { state in
      defer { state = State(isDead: true) }
      return state
    }
    withExtendedLifetime(old) {}
  }

  /// Opens the store and creates the engine.
  func start() async throws(SyncError) {
    let store = try await around(.open) { () async throws(SyncError) in try await world.bench.open() }
    state.withLock { $0.store = store }
    let (choices, home) = (world.choices, world.remotes.home)
    let engine = try await SyncEngine(
      schema: schema, store: SimulatedStore(store, of: self),
      source: SimulatedSource(home.source, remote: home.remote, of: self),
      sink: home.sink.map { SimulatedSink($0, of: self) }, clock: clock,
      options: world.shape.options, edits: world.editOptions, account: namedAccount,
      connectivity: connectivity,
      observers: [EventWatch(ledger: world.ledger)], random: Jitter(choices: choices))
    state.withLock { $0.engine = engine }
    await loadBundle()
    await insertDefaults()
  }

  // MARK: Calls of ports

  /// Makes a call of a port, with its fault.
  func around<R: Sendable>(
    _ call: PortCall, _ work: () async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    do throws(SyncError) {
      let fault = try await before(call)
      let result = try await work()
      try after(call, fault)
      return result
    } catch {
      state.withLock { _ = $0.causes.insert(error.code) }
      throw error
    }
  }

  private func before(_ call: PortCall) async throws(SyncError) -> Fault? {
    try demandLife(call)
    world.trace.mix(call.rawValue)
    if !call.isOfStore { world.watch.pushes.wentOn(under: book.fence) }
    if !call.isOfStore, world.isOffline, !world.isCalm {
      world.ledger.saw(.offline)
      throw SyncError(.remoteUnavailable, during: "a \(call.rawValue)", "There is no network.")
    }
    let fault = world.faults.fault(of: call)
    switch fault {
    case .failBefore(let error):
      trace(
        as: .fault,
        "\(call.rawValue) fails: \(error.code)\(error.retryAfter.map { ", and asks to wait for \($0)" } ?? "")"
      )
      world.ledger.saw(.callFailed)
      if let pause = error.retryAfter, pause > world.shape.options.retry.cap {
        world.ledger.saw(.pauseBeyondCap)
      }
      throw error
    case .stall(let pause):
      trace(as: .fault, "\(call.rawValue) takes \(pause)")
      world.ledger.saw(.callStalled)
      // A cancelled request need not wait for an answer. A store's call continues.
      try? await clock.pause(for: pause)
      noteStall()
      try demandLife(call)
    case .stop:
      world.stopForAWhile(process)
    case .killBefore:
      world.ledger.saw(.killedBeforeCall)
      kill()
      throw Self.death(call)
    case .failAfter, .killAfter, nil: break
    }
    return fault
  }

  private func after(_ call: PortCall, _ fault: Fault?) throws(SyncError) {
    switch fault {
    case .failAfter(let error):
      trace(as: .fault, "\(call.rawValue) had its effect, and reports a failure: \(error.code)")
      world.ledger.saw(call.isOfStore ? .acknowledgementLost : .answerLost)
      throw error
    case .killAfter:
      trace(as: .fault, "\(call.rawValue) had its effect")
      world.ledger.saw(.killedAfterCall)
      kill()
      throw Self.death(call)
    case .failBefore, .stall, .stop, .killBefore, nil: break
    }
  }

  private func demandLife(_ call: PortCall) throws(SyncError) {
    if isDead { throw Self.death(call) }
  }

  private static func death(_ call: PortCall) -> SyncError {
    SyncError(
      call.isOfStore ? .storeFailure : .remoteUnavailable, during: "a \(call.rawValue)",
      "The process has been killed.")
  }

  // MARK: What the checks have to know

  /// Whether the remote changes the edits of a record itself.
  func isAltered(_ id: RecordID) -> Bool { world.shape.altersEdits(of: id.type) }

  /// The full pulls of the current sync, and its schema.
  var known: (schema: SyncSchema, fullPull: Set<RecordType>) {
    (schema, state.withLock { $0.request?.fullPull } ?? [])
  }

  /// The codes of all errors that the ports have thrown since the sync began.
  var causes: Set<SyncError.Code> { state.withLock { $0.causes } }

  /// The time of the last delay of the process.
  var lastStall: Duration { state.withLock { $0.lastStall } }

  func noteStall() { state.withLock { $0.lastStall = world.time.elapsed } }

  func begin(_ request: SyncRequest) {
    state.withLock { state in
      state.request = request
      state.causes = []
    }
  }
}

/// The jitter of a world's pauses, which its choices decide.
struct Jitter: RandomNumberGenerator, Sendable {
  let choices: Choices

  mutating func next() -> UInt64 { UInt64(choices.below(1 << 16)) << 48 }
}

/// Notes what the engine of a process reports.
private struct EventWatch: SyncObserver {
  let ledger: Ledger

  func receive(_ event: SyncEvent) {
    switch event {
    case .targetDeleted(_, let rule, _):
      switch rule {
      case .keepsTarget: break
      case .restoresTarget: ledger.saw(.targetRestored)
      case .clearsReference: ledger.saw(.referenceCleared)
      case .deletesReferrers: ledger.saw(.referrerDeleted)
      }
    case .immutableAssigned: ledger.saw(.fieldAssigned)
    default: break
    }
  }
}
