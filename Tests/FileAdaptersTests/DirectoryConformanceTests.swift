import CanonicalSync
import FileAdapters
import SyncConformance
import Synchronization
import Testing

@Suite("A directory as a source", .timeLimit(.minutes(10)))
struct DirectoryConformanceTests {
  @Test(arguments: RecordFile.Writing.allCases, SourceCheck.allCases)
  func keepsThePromisesOfASource(_ writing: RecordFile.Writing, _ check: SourceCheck) async throws {
    try await withTemporaryDirectory { directory in
      let file = RecordFile(in: directory, writing)
      guard case .skipped(let reason) = try await check.run(on: file.harness()) else { return }
      #expect(Self.inapplicable.contains(check), "\(reason)")
      try Test.cancel("\(reason)")
    }
  }

  /// A directory has no lookups, tombstones and totals, and a file no late commits.
  private static let inapplicable: Set<SourceCheck> = [
    .lookupGivesCurrentCopies, .lookupOfManyFindsEach, .lookupTakesAnyKey, .keysAreListedWithTheirVersions,
    .deletionComesAsTombstone, .deletionsHaveRisingVersions, .totalCountsTheListing, .lateCommitIsFound,
  ]
}

/// A file of records with an external writer.
final class RecordFile: Sendable {
  /// The writer's way to change the file.
  enum Writing: CaseIterable {
    case inPlace, byReplacement
  }

  private let directory: TemporaryDirectory
  private let writing: Writing
  private let lines = Mutex<[(key: String, line: String)]>([])

  init(in directory: TemporaryDirectory, _ writing: Writing) {
    self.directory = directory
    self.writing = writing
  }

  private func edit(_ body: (inout [(key: String, line: String)]) -> Void) throws {
    let text = lines.withLock { lines in
      body(&lines)
      return lines.map { $0.line + "\n" }.joined()
    }
    let name = "\(SourceHarness.entity.type).ndjson"
    switch writing {
    case .inPlace: try directory.write(text, to: name)
    case .byReplacement: try directory.replace(name, with: text)
    }
  }

  func harness() throws -> SourceHarness {
    var harness = SourceHarness(
      source: try DirectorySource(directory: directory.path),
      upsert: { key, value in
        try self.edit { lines in
          let line = (key, "{\"id\":\"\(key)\",\"updated_at\":1700000000000,\"value\":\(value)}")
          if let index = lines.firstIndex(where: { $0.key == key }) {
            lines[index] = line
          } else {
            lines.append(line)
          }
        }
      },
      delete: { key in try self.edit { $0.removeAll { $0.key == key } } })
    harness.reopen = { try DirectorySource(directory: self.directory.path) }
    harness.putMalformed = { bytes in
      try self.edit { $0.append(("", String(decoding: bytes, as: UTF8.self))) }
    }
    harness.voidTokens = { try self.edit { $0.append(("", "")) } }
    return harness
  }
}
