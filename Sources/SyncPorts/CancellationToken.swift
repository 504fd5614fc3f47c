/// Somebody's wish that a sync stop at its next page.
///
/// It is asked from any thread, between pages and, ten times a second, during waits and fetches. Once true, it stays true.
public protocol CancellationToken: Sendable {
  /// Whether the sync should stop.
  var isCancelled: Bool { get }
}
