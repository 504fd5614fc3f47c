public import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// The app was launched, and what it brings along (its ``Bootstrap``) is loaded.
  ///
  /// Asks for time in the background, and for a sync if the last attempt is old enough.
  public func launch() {
    submitAll()
    signal(.launch)
  }

  /// The app came to the foreground: syncs if the last attempt is old enough, and only once the first sync has been completed.
  ///
  /// A sync that the end of time in the background cut short goes on now, however fresh, the first one included.
  public func foreground() {
    signal(.foreground)
  }

  /// The app went to the background: asks for time there.
  public func background() {
    submitAll()
  }

  /// Asks for a sync, unless the network is known to be away.
  ///
  /// It begins after the call, whatever sync of the app's own is running, so it sends what was edited before.
  ///
  /// - Parameter first: Types to go first, with those that they refer to. A sync that is running gives them way at its next page.
  public func requestSync(first: [RecordType] = []) {
    if !first.isEmpty { engine.prioritize(first) }
    signal(.request, first: first)
  }

  /// Asks for a sync if the last attempt, not the last success, is older than some time, and the network is not known to be away.
  ///
  /// A pull of all types that the app started through the engine is an attempt as well.
  ///
  /// - Parameter age: ``Options/staleAfter`` where none is given.
  public func requestSyncIfStale(olderThan age: Duration? = nil) {
    signal(.requestIfStale(olderThan: age ?? options.staleAfter))
  }

  /// The remote said that something changed; signals that come together start one sync.
  ///
  /// Its pull begins after the signal, whatever sync of the app's own is running.
  ///
  /// - Parameter first: The types that the signal names, which go first.
  public func pushSignal(first: [RecordType] = []) {
    signal(.pushSignal, first: first)
  }

  private func signal(_ trigger: SyncTrigger, first: [RecordType] = []) {
    update { state, now in state.report(trigger, first: first, at: now) }
    bell.ring()
  }
}
