import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncModels
import Testing

@Suite("Deltas of Kinto's collections", .timeLimit(.minutes(10)))
struct KintoDeltaTests {
  private func filled(_ count: Int) -> FakeKinto {
    let kinto = FakeKinto()
    for number in 0..<count { kinto.put("k\(number)", number) }
    return kinto
  }

  @Test func anUnchangedCollectionTakesOneRequestAndNoBody() async throws {
    let kinto = filled(5)
    kinto.pass(60_000)
    let source = try KintoSource.over(kinto, counting: true)
    let token = try await source.page().startToken
    let before = kinto.requests.count
    let page = try await source.page(.start(since: token))
    #expect(page.changes.isEmpty)
    #expect(page.startToken == token)
    #expect(kinto.requests.count == before + 1)
    #expect(kinto.requests.last?.headers["If-None-Match"] != nil)
  }

  @Test func aTokenThatIsNotSettledReachesBackAndAsksWithoutACondition() async throws {
    let kinto = filled(5)
    let source = try KintoSource.over(kinto)
    let token = try await source.page().startToken
    let page = try await source.page(.start(since: token))
    #expect(page.changes.count == 5)
    #expect(kinto.requests.last?.headers["If-None-Match"] == nil)
  }

  @Test(arguments: [0, 2])
  func aFlushedCollectionIsNoticed(_ writtenAfterwards: Int) async throws {
    let kinto = filled(5)
    kinto.pass(60_000)
    let source = try KintoSource.over(kinto, counting: true)
    let token = try await source.page().startToken
    kinto.flush()
    for number in 0..<writtenAfterwards { kinto.put("new\(number)", number) }
    let page = try await source.page(.start(since: token))
    #expect(page.next == .reset(.remoteReplaced))
  }

  @Test func deletionsWithTombstonesAreNoFlush() async throws {
    let kinto = filled(5)
    kinto.pass(60_000)
    let source = try KintoSource.over(kinto, counting: true)
    let token = try await source.page().startToken
    for number in 0..<4 { kinto.put("k\(number)", nil) }
    var page = try await source.page(.start(since: token), limit: 2)
    var tombstones = page.changes.count
    while case .more(let next, _) = page.next {
      page = try await source.page(.resume(next), limit: 2)
      tombstones += page.changes.count
    }
    #expect(page.next == .done(nil))
    #expect(tombstones == 4)
  }

  @Test func aCollectionWhoseTimeWentBackIsNoticed() async throws {
    let source = try KintoSource.over(ScriptedTransport(.page(etag: 9000), .page(etag: 8999)))
    let token = try await source.page().startToken
    #expect(try await source.page(.start(since: token)).next == .reset(.remoteReplaced))
  }

  @Test func aTotalIsThatOfTheStateThatTheFirstPageShowed() async throws {
    let kinto = filled(7)
    let source = try KintoSource.over(kinto, counting: true)
    #expect(try await source.page(limit: 3).total == 7)
    let head = try #require(kinto.requests.last)
    #expect(head.method == "HEAD")
    #expect(head.headers["If-Match"] != nil)
  }

  @Test(arguments: [
    "kinto1 etag=5 since=6", "kinto1 etag=-1 since=-2", "kinto2 etag=6 since=5", "kinto1 etag=6", "",
    "1795231623250",
  ])
  func aTokenOfAnotherSourceLeadsToAFullPass(_ text: String) async throws {
    let source = try KintoSource.over(ScriptedTransport())
    #expect(try await source.page(.start(since: SyncToken(text))).next == .reset(.tokenExpired))
  }
}
