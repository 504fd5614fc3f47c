/// Requests that a sync stop after the current page.
///
/// The sync reads it from any thread: between pages, and ten times a second during waits and
/// fetches. Once true, it stays true.
public protocol CancellationToken: Sendable {
  /// Whether the sync should stop.
  var isCancelled: Bool { get }
}
