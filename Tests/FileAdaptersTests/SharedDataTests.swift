import CanonicalSync
import FileAdapters
import Foundation
import Testing

@Suite("Real schedules", .timeLimit(.minutes(10)))
struct SharedDataTests {
  @Test(
    .enabled(if: SharedData.isPresent("football") && SharedData.isPresent("baseball")),
    arguments: ["football", "baseball"])
  func areListedWholeAndByteForByte(_ set: String) async throws {
    try await withTemporaryDirectory { directory in
      try SharedData.unpack(set, into: directory)
      let source = try DirectorySource(directory: directory.path)
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
      #expect(names.contains("games.ndjson"))
      for name in names where !name.hasPrefix("games.history") {
        let entity = Entity(RecordType(String(name.dropLast(".ndjson".count))))
        let listing = try await source.listing(of: entity, limit: 1000)
        let bytes = listing.changes.reduce(into: [UInt8]()) { bytes, change in
          guard case .upsert(let record) = change else { return }
          bytes += record.payload.bytes
          bytes.append(UInt8(ascii: "\n"))
        }
        #expect(try bytes == [UInt8](Data(contentsOf: URL(filePath: "\(directory.path)/\(name)"))))
        #expect(Set(listing.keys).count == listing.changes.count)
        #expect(listing.pages.first?.total == listing.changes.count)
        #expect(try await source.listing(of: entity, since: listing.token).changes.isEmpty)
      }
    }
  }
}
