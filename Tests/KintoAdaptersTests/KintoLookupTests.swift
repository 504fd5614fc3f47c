import CanonicalSyncTestServers
import HTTPAdapters
import KintoAdapters
import SyncModels
import Testing

@Suite("Lookups of Kinto's records")
struct KintoLookupTests {
  private static func ids(_ key: String) -> [RecordID] { [RecordID(type: "items", key: key)] }

  /// A key with a comma is looked up alone.
  @Test(arguments: ["a", "a,b"])
  func aMalformedCopyExists(_ key: String) async throws {
    let record = #"{"id":"\#(key)","last_modified":0}"#
    var answer = HTTPResponse.page(record)
    if key != "a" { answer.body = Array(#"{"data":\#(record)}"#.utf8) }
    let source = try KintoSource.over(ScriptedTransport(answer))
    let changes = try await source.lookup(Self.ids(key), of: Entity("items"))
    #expect(changes.map(\.id?.key) == [key])
    guard case .malformed? = changes.first else {
      Issue.record("\(changes)")
      return
    }
  }

  @Test(arguments: [
    (404, #"{"code":404,"errno":110}"#, true), (400, #"{"code":400,"errno":107}"#, true),
    (404, #"{"code":404,"errno":111}"#, false), (404, "<html>", false), (400, "", false),
    (400, #"{"code":400,"errno":999}"#, false),
  ])
  func onlyKintosOwnWordConfirmsADeletion(_ status: Int, _ body: String, isGone: Bool) async throws {
    let answer = HTTPResponse(status: status, body: Array(body.utf8))
    let source = try KintoSource.over(ScriptedTransport(answer))
    do throws(SyncError) {
      let changes = try await source.lookup(Self.ids("a,b"), of: Entity("items"))
      #expect(isGone && changes.isEmpty)
    } catch {
      #expect(!isGone && error.code == .invalidConfiguration)
    }
  }
}
