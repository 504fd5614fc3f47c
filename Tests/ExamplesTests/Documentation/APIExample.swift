import CanonicalSync
import Foundation
import HTTPAdapters
import InMemoryAdapters
import Testing

/// The code of Docs/MirroringAnAPI.md.
@Suite("The guide to APIs")
struct APIExample {
  private struct Nowhere: HTTPTransport {
    func send(_ request: HTTPRequest) throws(SyncError) -> HTTPResponse {
      HTTPResponse(status: 200, body: Array("[]".utf8))
    }
  }

  @Test func mirrorsADescribedAPI() async throws {
    let contents = Data(#"{"base":"https://api.example.com/","types":{"games":{"path":"games"}}}"#.utf8)
    let (store, transport) = (InMemoryStore(), Nowhere())
    let api = try RESTAPI(json: Array(contents), named: "api.json")
    let source = try RESTSource(api, transport: transport)
    let engine = try await SyncEngine(
      schema: api.schema, store: store, source: source, sink: RESTSink(source))
    #expect(try await engine.sync().total.fetched == 0)
  }
}
