import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

extension Incarnation {
  /// Lets triggers start syncs for a while, beside those of the app.
  ///
  /// A time limit in the background may end a sync early.
  func triggerInTrouble() async {
    let choices = world.choices
    guard world.shape.hazards.contains(.coordinators), choices.once(in: 2), let engine, !isDead else {
      return
    }
    let limit = choices.duration(.milliseconds(200)...(.seconds(20)))
    let scheduler = InMemoryScheduler(clock: clock, limit: limit, connectivity: connectivity)
    let coordinator = coordinator(engine, scheduler)
    await withTaskGroup(of: Void.self) { group in
      group.addTask { await coordinator.run() }
      for _ in 0..<choices.number(in: 1...4) {
        try? await clock.pause(for: choices.duration(.zero...(.seconds(15))))
        if isDead { break }
        switch choices.below(5) {
        case 0: coordinator.pushSignal()
        case 1: coordinator.requestSync(first: choices.pick([], ["leagues"]))
        case 2: coordinator.launch()
        case 3: coordinator.foreground()
        default: coordinator.background()
        }
      }
      try? await clock.pause(for: choices.duration(.zero...(.seconds(40))))
      group.cancelAll()
    }
  }

  private func coordinator(_ engine: SyncEngine, _ scheduler: InMemoryScheduler? = nil) -> SyncCoordinator {
    var options = SyncCoordinator.Options()
    options.staleAfter = .seconds(20)
    options.background.refreshAfter = .seconds(5)
    let ledger = world.ledger
    return SyncCoordinator(
      engine: engine, scheduler: scheduler, options: options,
      observe: { event in
        switch event {
        case .started: ledger.saw(.triggered)
        case .expired: ledger.saw(.timeUp)
        default: break
        }
      })
  }

  /// Makes the remote signal a change during a sync.
  ///
  /// No further request follows, and the change must still be visible.
  func signalInCalm() async {
    guard world.shape.hazards.contains(.coordinators), let engine, let store else { return }
    let choices = world.choices
    let request = calmRequest()
    let id = RecordID(type: "leagues", key: "l1")
    await withTaskGroup(of: Void.self) { group in
      let coordinator = coordinator(engine)
      begin(SyncRequest())
      group.addTask { await coordinator.run() }
      group.addTask { _ = try? await engine.sync(request) }
      try? await clock.pause(for: choices.duration(.zero...(.seconds(4))))
      world.edits.writeLast(id)
      coordinator.pushSignal()
      // Longer than a sync, and than triggers are collected, or postponed after failures.
      try? await clock.pause(for: .seconds(7200))
      group.cancelAll()
    }
    let written = world.remotes.current.records(of: id.type).first { $0.key == id.key }?.payload
    let state = try? await store.read { (snapshot) throws(SyncError) in
      let (edit, aside) = (try snapshot.outbox(for: [id]), try snapshot.withheld(for: [.record(id)]))
      return (
        shown: try snapshot.records(withIDs: [id]).first??.payload, isKept: !edit.isEmpty || !aside.isEmpty
      )
    }
    guard let state, !state.isKept, state.shown.map(plain) != written else { return }
    world.ledger.report(
      .liveness, "\(self) received a signal of a change while it synced, and has not fetched it", about: [id])
  }

  /// A payload without what differs in each answer of the remote.
  private func plain(_ payload: Payload) -> Payload {
    world.shape.volatileField.map(payload.without) ?? payload
  }

  private func calmRequest() -> SyncRequest {
    var request = SyncRequest()
    if world.hasSink { request.direction = world.choices.pick(.both, .push, .pull) }
    if world.choices.once(in: 3) { request.types = ["teams"] }
    return request
  }
}
