import CanonicalSync
import CanonicalSyncToolSupport
import SyncJSON

extension Inspection {
  /// Prints the live records of a type, each a line of compact JSON, by key.
  ///
  /// Keys sort by their UTF-8 bytes. One snapshot is read in portions, so memory does not grow with
  /// the number of records.
  func export(_ typeName: String) async throws(SyncError) {
    let type = try await entity(named: typeName).type
    let output = output
    let count = try await store.read { (snapshot) throws(SyncError) in
      var count = 0
      var query = Query(type, limit: 1000)
      while true {
        let records = try snapshot.portion(of: query)
        guard let last = records.last else { return count }
        for record in records {
          var line = JSONScanner.compacted(record.payload.bytes)
          line.append(UInt8(ascii: "\n"))
          output.write(line)
        }
        count += records.count
        // The reader is gone: there is nothing left to do.
        if output.failure != nil { return count }
        query.afterKey = last.id.key
      }
    }
    finish(["type": .string(type.rawValue), "records": .integer(count)])
  }
}
