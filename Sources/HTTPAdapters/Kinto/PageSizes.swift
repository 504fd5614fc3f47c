import SyncModels
import Synchronization

/// How many records of each collection fit into an answer, as far as answers that were too long have shown.
final class PageSizes: Sendable {
  private let largest = Mutex<[RecordType: Int]>([:])

  /// Asks for a page, and with half as many records whenever the answer is too long.
  ///
  /// What was found to fit is what later pages begin with: each answer that is too long is read up to the limit before it is given up.
  func fit(
    _ collection: KintoCollection, _ limit: Int,
    _ ask: (Int) async throws(SyncError) -> HTTPResponse
  ) async throws(SyncError) -> HTTPResponse {
    var size = max(1, min(limit, largest.withLock { $0[collection.type] } ?? limit))
    while true {
      do throws(SyncError) {
        return try await ask(size)
      } catch {
        guard error.underlying is HTTPFailure.TooLong, size > 1 else { throw error }
        size /= 2
        largest.withLock { $0[collection.type] = size }
      }
    }
  }
}
