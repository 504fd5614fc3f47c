public import SyncModels

/// Receives the events of an engine.
///
/// The events of a sync come in order, on its tasks. Those of other calls come on the tasks of
/// these calls: of edits (`edited`), of clean-ups (`hidden`) and of typed reads (`undecodable`). A
/// slow observer delays the call. A slow consumer takes `SyncEngine.events()` instead, which
/// buffers.
public protocol SyncObserver: Sendable {
  /// Receives an event.
  ///
  /// It may run several times at once: an edit does not wait for the events of a sync. A sync that
  /// looks up missing records may report a retry beside another event.
  func receive(_ event: SyncEvent)
}
