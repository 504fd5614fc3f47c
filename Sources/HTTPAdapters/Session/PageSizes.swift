package import SyncModels
import Synchronization

/// The number of records of each type that fit into an answer.
///
/// It is learned from answers that were too long.
package final class PageSizes: Sendable {
  private let largest = Mutex<[RecordType: Int]>([:])

  /// Requests a page, with half as many records each time the answer is too long.
  ///
  /// Later pages begin with the size that fitted: an answer that is too long is read up to the
  /// limit before it is abandoned.
  package func fit(
    _ type: RecordType, _ limit: Int,
    _ ask: (Int) async throws(SyncError) -> HTTPResponse
  ) async throws(SyncError) -> HTTPResponse {
    var size = max(1, min(limit, largest.withLock { $0[type] } ?? limit))
    while true {
      do throws(SyncError) {
        return try await ask(size)
      } catch {
        guard error.underlying is HTTPFailure.TooLong, size > 1 else { throw error }
        size /= 2
        largest.withLock { $0[type] = size }
      }
    }
  }
}
