import InMemoryAdapters
import SyncCore
import SyncModels
import SyncPorts

/// Another device of the same person: a store of its own, in step with the same remote.
///
/// It has no faults, and edits, collapses duplicates and syncs as it likes.
final class OtherDevice: Sendable {
  private let world: World
  private let schema: SyncSchema
  private let store: InMemoryStore
  private let engine: SyncEngine

  /// Creates a device without records.
  init(in world: World, _ version: AppVersion) async throws(SyncError) {
    self.world = world
    let clock = world.serverClock
    schema = try version.schema(world.shape)
    store = InMemoryStore(identity: "other", leaseClock: { clock.timestamp })
    let home = world.remotes.home
    engine = try await SyncEngine(
      schema: schema, store: store, source: home.source, sink: home.sink, clock: clock,
      options: world.shape.options, edits: EditOptions(policy: world.policy),
      random: Jitter(choices: world.choices))
  }

  /// Edits, syncs and collapses duplicates, until the world calms down.
  func live() async {
    let choices = world.choices
    for _ in 0..<choices.number(in: 1...5) {
      await world.pause(choices.duration(.zero...(.seconds(30))))
      for _ in 0..<choices.below(3) { await edit() }
      if choices.below(3) > 0 { await sync() }
      if choices.once(in: 2) { await rebuild(version: 1) }
    }
  }

  private func edit() async {
    let id = world.edits.anyRecord()
    do throws(SyncError) {
      if world.choices.once(in: 6) {
        try await engine.edits.delete(id)
      } else {
        try await world.write(id, by: engine)
      }
      world.trace.tell("other", as: .edit, "edits \(id)")
      world.ledger.saw(.editedElsewhere)
    } catch {
      if error.code != .invalidEdit {
        world.ledger.report(.honestErrors, "another device could not edit \(id): \(error)", about: [id])
      }
    }
  }

  /// Syncs without faults, and collapses what is left of duplicates.
  func syncInCalm() async {
    do throws(SyncError) {
      for entity in schema.entities {
        let refused = try await engine.edits.pending(entity.type).filter(\.mayBeTakenNow)
        for entry in refused where entry.mayHaveMadeItsRecord { world.keys.sendsAgain(entry.id) }
        try await engine.edits.retry(entity.type, refused.map(\.id.key))
      }
    } catch {
      world.ledger.report(.liveness, "with all faults gone, another device cannot retry its edits: \(error)")
    }
    await sync()
    await rebuild(version: 2)
  }

  private func sync() async {
    do throws(SyncError) {
      let result = try await engine.sync(SyncRequest(allowsMassDeletion: true))
      world.trace.tell("other", as: .sync, "synced: \(result.total.fetched) fetched")
    } catch {
      world.trace.tell("other", as: .sync, "could not sync: \(error.code)")
      if world.isCalm {
        world.ledger.report(.liveness, "with all faults gone, another device fails: \(error)")
      }
    }
  }

  private func rebuild(version: Int) async {
    guard world.shape.hazards.contains(.duplicates) else { return }
    for entity in schema.entities where entity.naturalKey != nil {
      do throws(SyncError) {
        let report = try await engine.rebuildDuplicates(of: entity.type, version: version)
        if report.counts.losers > 0 { world.ledger.saw(.collapsedElsewhere) }
      } catch {
        world.trace.tell("other", as: .sync, "could not rebuild: \(error.code)")
      }
    }
  }

  /// The unexplained differences between the device and the remote.
  func differences() async -> [Difference] {
    do throws(SyncError) {
      let watch = world.watch
      var waiting: [PendingEdit] = []
      for type in watch.types { waiting += try await engine.edits.waiting(type) }
      let view = try await store.read { (snapshot) throws(SyncError) in try watch.view(of: snapshot) }
      let truth = RemoteTruth(
        world.remotes.current, schema, world.edits, keeps: nil, now: world.serverClock.timestamp, world.shape,
        hasSink: true, showing: world.shows)
      let check = ConvergenceCheck(schema: schema, view: view, truth: truth, waiting: waiting)
      return (check.differences + view.dangling(in: schema)).map { difference in
        Difference("on another device, \(difference)", about: difference.records)
      }
    } catch {
      return [Difference("another device's store cannot be read: \(error)", about: [])]
    }
  }
}

extension OutboxEntry {
  /// Whether the remote has perhaps made the record, and does not tell.
  var mayHaveMadeItsRecord: Bool {
    if case .refused(InMemoryRemote.mayBeMade, _) = state { true } else { false }
  }

  /// Whether the remote may accept a refused edit now.
  ///
  /// A value that another record had is free after a deletion, of which the engine hears itself.
  var mayBeTakenNow: Bool {
    if case .refused(let reason, _) = state { reason != UniqueValuesSink.reason } else { false }
  }
}
