import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@Suite("A listing without an end", .timeLimit(.minutes(10)))
struct EndlessListingTests {
  /// Answers with a new token each time, and a record after some empty pages.
  private final class Source: RemoteRecordSource {
    let identity = "endless"
    let capabilities = SourceCapabilities(deltas: .fullOnly, sendsTombstones: false, listing: .snapshot)
    let requests = Mutex(0)
    private let emptyPages: Int

    init(emptyPages: Int) {
      self.emptyPages = emptyPages
    }

    func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
      let number = requests.withLock { number in
        number += 1
        return number
      }
      if number <= emptyPages {
        return RecordPage(coverage: .full, changes: [], next: .more(PageToken("\(number)"), resumable: true))
      }
      let record = Record(
        id: RecordID(type: "meters", key: "m"), version: Version(modifiedAt: Timestamp(microseconds: 1)),
        payload: Payload(Array("{}".utf8)), fields: [])
      return RecordPage(coverage: .full, changes: [.upsert(record)], next: .done(nil))
    }
  }

  private func sync(_ source: Source) async throws -> SyncResult {
    let clock = ManualClock()
    let store = InMemoryStore(leaseClock: { clock.timestamp })
    return try await SyncEngine(
      schema: SyncSchema([Entity("meters")]), store: store, source: source, clock: clock
    ).sync()
  }

  @Test func isAnErrorThoughEachTokenIsNew() async throws {
    let source = Source(emptyPages: .max)
    let result = try await sync(source)
    #expect(result.failures.map(\.error.code) == [.inconsistentData])
    #expect(source.requests.withLock { $0 } == 1000)
  }

  @Test func isNoneAfterManyEmptyPages() async throws {
    let result = try await sync(Source(emptyPages: 999))
    #expect(result.failures.isEmpty && result.total.inserted == 1)
  }
}
