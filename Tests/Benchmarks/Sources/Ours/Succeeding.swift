import CRecords
import CanonicalSync
import SyncAdapters

/// A server that asks for the lease until it has it.
///
/// The result has the time of day in seconds.
struct Succeeding {
  let options: Options

  func run() async throws -> Measurement {
    let (store, close) = try await options.openStore()
    var measurement = Measurement()
    while true {
      do throws(SyncError) {
        let lease = try await store.acquireLease(for: .seconds(15))
        measurement.end(records: 1)
        measurement.wait(.microseconds(ContinuousClock().timestamp.microseconds))
        try await store.release(lease)
        await close()
        return measurement
      } catch {
        guard error.code == .syncAlreadyInProgress else { throw error }
        try await Task.sleep(for: .milliseconds(20))
      }
    }
  }
}
