import CanonicalSync
import CanonicalSyncToolSupport
import SyncJSON
import Synchronization

extension Inspection {
  /// Prints the live records of a type, each a line of compact JSON, by key.
  ///
  /// Keys sort by their UTF-8 bytes. One snapshot is read in portions, so memory does not grow with
  /// the number of records.
  func export(_ typeName: String) async throws(SyncError) {
    let type = try await entity(named: typeName).type
    let output = output
    let printed = Mutex(0)
    let count = try await store.read { (snapshot) throws(SyncError) in
      // The store may run this again, on a later state, and what was printed cannot be taken back.
      let former = printed.withLock(\.self)
      if former > 0 {
        throw SyncError(
          .storeFailure, during: "exporting \(type)",
          "The connection was lost after \(former) records. Run the export again.")
      }
      var query = Query(type, limit: 1000)
      var records = try snapshot.portion(of: query)
      while let last = records.last {
        query.afterKey = last.id.key
        // A first read can be one outside a transaction, which a second one repeats in one.
        let next = try snapshot.portion(of: query)
        for record in records {
          var line = JSONScanner.compacted(record.payload.bytes)
          line.append(UInt8(ascii: "\n"))
          output.write(line)
        }
        printed.withLock { $0 += records.count }
        // The reader is gone: there is nothing left to do.
        if output.failure != nil { break }
        records = next
      }
      return printed.withLock(\.self)
    }
    finish(["type": .string(type.rawValue), "records": .integer(count)])
  }
}
