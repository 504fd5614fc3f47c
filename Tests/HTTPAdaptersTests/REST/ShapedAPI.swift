import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import InMemoryAdapters
import SyncModels
import Synchronization

/// An API in memory of one shape, which loses one request or one answer.
final class ShapedAPI: HTTPTransport {
  /// What becomes of the request that is lost.
  enum Loss: CaseIterable, Sendable {
    /// The server is away.
    case request
    /// The server has done what was asked.
    case answer
  }

  let shape: APIShape
  let clock = ManualClock()
  private let state = Mutex((board: Board(), requests: 0))
  /// The number of the request to lose; `nil` for none.
  private let lost: (place: Int, loss: Loss)?

  init(_ shape: APIShape, losing lost: (place: Int, loss: Loss)? = nil) {
    (self.shape, self.lost) = (shape, lost)
  }

  /// The number of requests so far.
  var requests: Int { state.withLock { $0.requests } }

  /// The values of the records that the API has, by their keys in a mirror.
  var values: [String: Int] {
    let rows = state.withLock { $0.board.live }
    return Dictionary(uniqueKeysWithValues: rows.map { (shape.key($0.number), $0.value) })
  }

  /// Writes a record, or deletes it.
  func put(_ number: Int, _ value: Int?) {
    clock.advance(by: .seconds(1))
    state.withLock { $0.board.put(number, value, at: clock.timestamp) }
  }

  func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let (number, answer) = state.withLock { state -> (Int, HTTPResponse?) in
      state.requests += 1
      if let lost, lost.place == state.requests, lost.loss == .request { return (state.requests, nil) }
      state.board.now = clock.timestamp
      let answer = shape.answer(Asked(request), &state.board)
      var headers = answer.headers
      headers["Date"] = HTTPDateText.text(state.board.now.microseconds / 1000)
      let body = request.method == "HEAD" ? [] : Array(answer.json.utf8)
      return (state.requests, HTTPResponse(status: answer.status, headers: headers, body: body))
    }
    guard let answer, lost?.place != number else {
      throw SyncError(.remoteUnavailable, during: "asking", "The connection broke.")
    }
    return answer
  }

  /// A request, in the words of the API.
  struct Asked {
    var method: String
    /// The path below the base.
    var path: String
    var query: [String: String]
    var headers: HTTPHeaders
    var body: String

    init(_ request: HTTPRequest) {
      let address = URLComponents(string: "\(request.address)")
      (method, headers) = (request.method, request.headers)
      path = request.address.path.replacing("/v1/", with: "")
      query = Dictionary(
        (address?.queryItems ?? []).map { ($0.name, $0.value ?? "") }, uniquingKeysWith: { $0 + "," + $1 })
      body = String(decoding: request.body, as: UTF8.self)
    }

    /// A value in the body.
    func value(_ path: String...) -> Any? {
      var value = try? JSONSerialization.jsonObject(with: Data(body.utf8))
      for name in path { value = (value as? [String: Any])?[name] }
      return value
    }
  }

  /// An answer.
  struct Answer {
    var status = 200
    var headers: HTTPHeaders = [:]
    var json: String

    init(_ json: String, status: Int = 200, headers: HTTPHeaders = [:]) {
      (self.json, self.status, self.headers) = (json, status, headers)
    }

    static func refused(_ status: Int = 400) -> Answer { Answer(#"{"message":"no"}"#, status: status) }
  }

  /// The records of the API.
  struct Board {
    var rows: [Int: Row] = [:]
    /// The number of changes so far.
    var changes = 0
    var now = Timestamp(microseconds: 0)
    /// The records that were made for an idempotency key.
    var made: [String: Int] = [:]
    /// The tokens that were given, and how often the last one was used.
    var tokens = (given: 0, used: 0)

    mutating func put(_ number: Int, _ value: Int?, member: String? = nil, at time: Timestamp) {
      changes += 1
      rows[number] = Row(
        number: number, value: value ?? 0, member: member ?? rows[number]?.member ?? "", change: changes,
        at: time, isDeleted: value == nil)
    }

    /// All records that were ever there, by number.
    var all: [Row] { rows.values.sorted { $0.number < $1.number } }
    var live: [Row] { all.filter { !$0.isDeleted } }

    /// Three records after a number, and the number to go on after.
    func page(after number: Int = 0, of rows: [Row]? = nil) -> (rows: [Row], next: Int?) {
      let rest = (rows ?? live).filter { $0.number > number }
      return (Array(rest.prefix(3)), rest.count > 3 ? rest[2].number : nil)
    }
  }

  /// A record.
  struct Row {
    var number: Int
    var value: Int
    /// A further member, as JSON after a comma.
    var member: String
    var change: Int
    var at: Timestamp
    var isDeleted: Bool

    /// The time in ISO 8601.
    var time: String {
      Date(timeIntervalSince1970: Double(at.microseconds) / 1e6).ISO8601Format()
    }

    /// The record as JSON, with a mark if it is deleted.
    func json(id: String? = nil, _ more: String = "") -> String {
      let id = id ?? "\"id\":\"r\(number)\""
      return "{\(id),\"n\":\(value),\"at\":\"\(time)\"\(isDeleted ? ",\"gone\":true" : "")\(member)\(more)}"
    }
  }
}

extension [ShapedAPI.Row] {
  /// The records as a list in JSON.
  func json(_ row: (ShapedAPI.Row) -> String = { $0.json() }) -> String {
    "[\(map(row).joined(separator: ","))]"
  }
}
