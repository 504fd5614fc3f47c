import SyncCore
import SyncModels
import SyncPorts

extension World {
  /// Lets another person log in, who has other records at the same remote.
  ///
  /// All processes end and restart. They still have the store of the person before.
  func exchangeAccount() {
    trace.tell("app", as: .world, "has another person's credentials")
    ledger.saw(.accountExchanged)
    for incarnation in currentProcesses { incarnation.kill() }
    remotes.exchangeAccount()
    edits.beginAnew()
    watch.pushes.begin()
    if watch.isOwned { watch.pushes.forbid(watch.lastView.outbox.values) }
  }
}

extension Incarnation {
  /// The account that the app names to the engine; `nil` where only the remote knows it.
  var namedAccount: String? {
    world.shape.hazards.contains(.exchangedAccounts) && world.shape.namesAccounts
      ? world.remotes.home.account : nil
  }

  /// Makes the store forget the person before.
  func forgetAccount(of store: any LocalStore) async throws(SyncError) {
    let edits = try await SyncEngine.forgetEverything(
      in: SimulatedStore(store, of: self, isForgetting: true))
    trace(as: .edit, "forgets the person before, with \(Counted(edits.count, "edit"))")
  }

  /// Makes the store forget the person before, if a sync was refused for it.
  ///
  /// - Returns: Whether it did.
  @discardableResult
  func forgetAccount(after error: SyncError) async -> Bool {
    guard error.code == .otherAccount, let store, !isDead else { return false }
    do throws(SyncError) {
      try await forgetAccount(of: store)
      return true
    } catch {
      trace(as: .edit, "could not forget the person before: \(error.code)")
      world.trace.mix(error.code.description)
      let known: Set<SyncError.Code> = [.storeFailure, .storeBusy, .storeFull, .syncAlreadyInProgress]
      if !known.contains(error.code) {
        world.ledger.report(.honestErrors, "\(self) could not forget an account: \(error)")
      }
      return false
    }
  }
}

extension Watch {
  /// Checks that nothing is left of a person whom the store has forgotten.
  func checkForgotten(_ before: StoreView, _ after: StoreView, by incarnation: Incarnation) {
    pushes.forbid(before.outbox.values)
    edits.keysChanged()
    let left = Set(after.live.keys).union(after.outbox.keys).union(after.conflicts.map(\.id))
      .union(after.withheld.values.compactMap(\.change.id))
    guard let first = left.min() else { return }
    incarnation.world.ledger.report(
      .oneAccount, "\(incarnation) forgets an account, and still has something of \(first)",
      about: left.sorted())
  }
}
