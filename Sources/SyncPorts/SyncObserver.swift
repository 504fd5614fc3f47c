public import SyncModels

/// Receives the events of a sync.
///
/// Observers are called in order, one event after another, from the sync's own task: a slow
/// observer delays the sync. A slow consumer takes `SyncEngine.events()` instead, which buffers.
public protocol SyncObserver: Sendable {
  /// Receives an event.
  func receive(_ event: SyncEvent)
}
