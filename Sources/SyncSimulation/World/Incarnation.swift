import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts
import Synchronization

/// One life of a process: from its start to its end, or to the moment when it is killed.
///
/// A killed process goes on unwinding, since tasks cannot be torn away; none of its calls has an effect any more.
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

  func trace(_ line: @autoclosure () -> String) {
    world.trace.tell(description, line())
  }

  // MARK: Life and death

  var isDead: Bool { state.withLock { $0.isDead } }
  var engine: SyncEngine? { state.withLock { $0.engine } }
  var store: (any LocalStore)? { state.withLock { $0.store } }

  /// Whether the data set that comes with the app is being loaded.
  var isLoading: Bool {
    get { state.withLock { $0.isLoading } }
    set { state.withLock { $0.isLoading = newValue } }
  }

  /// What ends the tasks of the process when it is killed.
  func setEnd(_ end: @escaping @Sendable () -> Void) {
    let isDead = state.withLock { state in
      state.end = end
      return state.isDead
    }
    if isDead { end() }
  }

  /// Kills the process: nothing that it still does has an effect.
  func kill() {
    let end = state.withLock { state in
      state.isDead = true
      return state.end
    }
    trace("is killed")
    end?()
  }

  /// Lets everything go that holds the process, once the world is over.
  func takeApart() {
    let old = state.withLock { state in
      defer { state = State(isDead: true) }
      return state
    }
    withExtendedLifetime(old) {}
  }

  /// Opens the store and sets the engine up.
  func start() async throws(SyncError) {
    let store = try await around(.open) { () async throws(SyncError) in try await world.bench.open() }
    state.withLock { $0.store = store }
    let (choices, home) = (world.choices, world.remotes.home)
    let engine = try await SyncEngine(
      schema: schema, store: SimulatedStore(store, of: self),
      source: SimulatedSource(home.source, remote: home.remote, of: self),
      sink: home.sink.map { SimulatedSink($0, of: self) }, clock: clock,
      options: world.shape.options, edits: world.editOptions, connectivity: connectivity,
      random: { UInt64(choices.below(1 << 16)) << 48 })
    state.withLock { $0.engine = engine }
    await loadBundle()
  }

  // MARK: Calls of ports

  /// Makes a call of a port, with whatever befalls it.
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
      trace("\(call.rawValue) fails: \(error.code)")
      world.ledger.saw(.callFailed)
      if let pause = error.retryAfter, pause > world.shape.options.retry.cap {
        world.ledger.saw(.pauseBeyondCap)
      }
      throw error
    case .stall(let pause):
      trace("\(call.rawValue) takes \(pause)")
      world.ledger.saw(.callStalled)
      // Whoever is cancelled need not wait for an answer; a store's call goes on all the same.
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
      trace("\(call.rawValue) had its effect, and is told to have failed: \(error.code)")
      world.ledger.saw(call.isOfStore ? .acknowledgementLost : .answerLost)
      throw error
    case .killAfter:
      trace("\(call.rawValue) had its effect")
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

  /// What the sync under way was asked to list completely, and by which declarations.
  var known: (schema: SyncSchema, fullPull: Set<RecordType>) {
    (schema, state.withLock { $0.request?.fullPull } ?? [])
  }

  /// The codes of all errors that the ports have thrown since the sync began.
  var causes: Set<SyncError.Code> { state.withLock { $0.causes } }

  /// When something last kept the process from going on.
  var lastStall: Duration { state.withLock { $0.lastStall } }

  func noteStall() { state.withLock { $0.lastStall = world.time.elapsed } }

  func begin(_ request: SyncRequest) {
    state.withLock { state in
      state.request = request
      state.causes = []
    }
  }
}
