public import SyncModels

/// Somebody who is told what happens during a sync.
///
/// Observers are called in order, one event after another, from the sync's own task: one that takes long holds the sync up. A slow consumer
/// takes `SyncEngine.events()` instead, which buffers.
public protocol SyncObserver: Sendable {
  /// Takes note of an event.
  func receive(_ event: SyncEvent)
}
