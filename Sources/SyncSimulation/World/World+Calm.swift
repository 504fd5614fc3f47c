import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

extension World {
  /// Ends all faults and edits; then everything has to come right by itself, in a bounded number of syncs.
  func calmDown() async {
    trace.tell("world", "all faults end")
    state.withLock { $0.isCalm = true }
    faults.calmDown()
    remote.behaveWell()
    remote.recordQuota = nil
    edits.relent()
    executor.resumeAll()
    let schema = state.withLock { $0.schema }
    var complaints = ["nothing was synced"]
    for round in 1...5 where !complaints.isEmpty {
      // Longer than any lease, and than the time between two looks for deletions, by any of the clocks.
      await pause(.seconds(48 * 3600))
      for process in 1...shape.processes {
        guard let incarnation = await survivor(process, schema: schema) else { return }
        await inProcess(incarnation) { await incarnation.syncInCalm(isFirst: round == 1) }
      }
      complaints = await differences(schema: schema)
      trace.tell(
        "world",
        "after \(Counted(round, "calm sync")): \(complaints.isEmpty ? "all is well" : "\(complaints)")")
    }
    for words in complaints.prefix(3) { ledger.report(.convergence, words) }
    ledger.saw(.pushRepeated, times: remote.pushCounters.repeats)
    if !edits.wasWiped {
      for words in watch.pushes.repeatedEffects(in: remote).prefix(3) { ledger.report(.oneEffect, words) }
    }
    for process in 1...shape.processes {
      if let incarnation = state.withLock({ $0.survivors[process] }) { await end(incarnation) }
    }
    bench.discard()
  }

  /// The process as it went on through all trouble, or, if it did not, or is too old, started anew.
  private func survivor(_ process: Int, schema: Int) async -> Incarnation? {
    let survivor = state.withLock { $0.survivors[process] }
    if let survivor, !survivor.isDead, survivor.graph["leagues"]?.schemaVersion == schema { return survivor }
    if let survivor { await end(survivor) }
    let incarnation = await start(process)
    if incarnation == nil { ledger.report(.liveness, "app \(process) cannot start") }
    state.withLock { $0.survivors[process] = incarnation }
    return incarnation
  }

  private func differences(schema: Int) async -> [String] {
    ledger.saw(.convergenceChecked)
    guard let store = state.withLock({ $0.survivors[1] })?.store,
      let graph = graph(schema: schema)
    else { return ["there is no store"] }
    do throws(SyncError) {
      let watch = watch
      let view = try await store.read { (snapshot) throws(SyncError) in try watch.view(of: snapshot) }
      watch.compare(view, "at the end")
      trace.mix(UInt64(view.live.count))
      return ConvergenceCheck(graph: graph, view: view, remote: remote, poisoned: edits.poisoned).differences
        + view.dangling(in: graph)
    } catch {
      return ["the store cannot be read: \(error)"]
    }
  }
}
