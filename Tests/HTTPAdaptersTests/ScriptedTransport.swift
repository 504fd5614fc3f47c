import HTTPAdapters
import SyncModels
import Synchronization

/// A transport with scripted answers.
final class ScriptedTransport: HTTPTransport {
  private struct State {
    var answers: [HTTPResponse]
    var requests: [HTTPRequest] = []
  }
  private let state: Mutex<State>

  convenience init(_ answers: HTTPResponse...) { self.init(answers) }
  init(_ answers: [HTTPResponse]) { state = Mutex(State(answers: answers)) }

  var requests: [HTTPRequest] { state.withLock { $0.requests } }
  /// The number of unused answers.
  var unread: Int { state.withLock { $0.answers.count } }

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.answers.isEmpty ? nil : state.answers.removeFirst()
    }
    guard let answer else { throw SyncError(.storeFailure, during: "reading a script that has ended") }
    return answer
  }
}

extension HTTPResponse {
  /// Creates a Kinto page.
  static func page(_ elements: String = "", etag: Int64 = 5000, _ more: [String: String] = [:])
    -> HTTPResponse
  {
    var response = HTTPResponse(status: 200, headers: ["ETag": "\"\(etag)\""])
    for (name, value) in more { response.headers[name] = value }
    response.body = Array("{\"data\":[\(elements)]}".utf8)
    return response
  }
}

extension KintoSource {
  /// Creates a source over a transport, for tests.
  static func over(
    _ transport: any HTTPTransport, counting: Bool = false, credentials: HTTPCredentials? = nil
  ) throws -> KintoSource {
    var options = Options()
    options.countsRecords = counting
    return try KintoSource(
      server: FakeKinto.server, bucket: "b", credentials: credentials, options: options, transport: transport)
  }

  /// One page of the items.
  func page(_ position: PullPosition = .start(since: nil), limit: Int = 100) async throws(SyncError)
    -> RecordPage
  {
    try await page(
      PageRequest(entity: Entity("items", indexes: ["value"]), position: position, limit: limit, pass: 1))
  }
}
