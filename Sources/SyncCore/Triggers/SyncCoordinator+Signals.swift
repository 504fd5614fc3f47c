public import SyncModels
import SyncPorts

extension SyncCoordinator {
  /// Reports that the app was launched and its ``Bootstrap`` is loaded.
  ///
  /// Submits the background requests, and asks for a sync if the last attempt is old enough.
  public func launch() {
    submitAll()
    signal(.launch)
  }

  /// Reports that the app came to the foreground.
  ///
  /// Asks for a sync if the last attempt is old enough, but only after the first sync has been
  /// completed. A sync that was cut short by the end of background time or of the network resumes
  /// now, however fresh the attempt and even if it was the first sync.
  public func foreground() {
    signal(.foreground)
  }

  /// Reports that the app went to the background, and submits the background requests.
  public func background() {
    submitAll()
  }

  /// Asks for a sync, unless the network is known to be away.
  ///
  /// The sync begins after the call, whatever sync of the app's own is running, so it sends all
  /// edits made before the call.
  ///
  /// - Parameter first: The types to sync first, with the types that they refer to. A running sync
  ///   turns to them after its current page.
  public func requestSync(first: [RecordType] = []) {
    if !first.isEmpty { engine.prioritize(first) }
    signal(.request, first: first)
  }

  /// Asks for a sync if the last attempt is older than an age.
  ///
  /// The last attempt counts, not the last success. An app's own pull of all types through the
  /// engine is an attempt as well. The call does nothing while the network is known to be away.
  ///
  /// - Parameter age: The age; ``Options/staleAfter`` if omitted.
  public func requestSyncIfStale(olderThan age: Duration? = nil) {
    signal(.requestIfStale(olderThan: age ?? options.staleAfter))
  }

  /// Reports that the remote announced a change. Signals in quick succession start one sync.
  ///
  /// Its pull begins after the signal, whatever sync of the app's own is running.
  ///
  /// - Parameter first: The types that the signal names, which are synced first.
  public func pushSignal(first: [RecordType] = []) {
    signal(.pushSignal, first: first)
  }

  private func signal(_ trigger: SyncTrigger, first: [RecordType] = []) {
    update { state, now in state.report(trigger, first: first, at: now) }
    workSignal.signal()
  }
}
