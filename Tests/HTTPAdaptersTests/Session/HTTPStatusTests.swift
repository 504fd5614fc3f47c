import CanonicalSync
import Testing

@testable import HTTPAdapters

@Suite("An unexpected status")
struct HTTPStatusTests {
  @Test(arguments: [
    (401, SyncError.Code.authentication), (404, .invalidConfiguration),
    (408, .remoteUnavailable), (423, .remoteUnavailable), (425, .remoteUnavailable),
    (402, .permissionDenied), (451, .permissionDenied), (422, .invalidConfiguration),
    (429, .remoteUnavailable),
    (500, .remoteUnavailable), (599, .remoteUnavailable), (204, .invalidResponse), (304, .invalidResponse),
    (600, .invalidResponse),
  ])
  func tellsWhatToDo(_ status: Int, _ code: SyncError.Code) {
    let response = HTTPResponse(status: status, headers: ["Retry-After": "7"])
    let error = HTTPFailure.status(response, during: "asking", awaited: "an answer")
    #expect(error.code == code)
    #expect(error.message.hasPrefix("The server answered \(status)"))
    #expect(error.retryAfter == (code == .remoteUnavailable ? .seconds(7) : nil))
  }

  @Test func mayLimitTheRateOfRequests() {
    let limits: [HTTPHeaders] = [
      ["Retry-After": "2"], ["Retry-After": "1.5"], ["RateLimit-Remaining": "0", "RateLimit-Reset": "2"],
      [
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1775066402",
        "Date": "Wed, 01 Apr 2026 18:00:00 GMT",
      ],
      [
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1775066402000",
        "Date": "Wed, 01 Apr 2026 18:00:00 GMT",
      ],
      [
        "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "2026-04-01T18:00:02Z",
        "Date": "Wed, 01 Apr 2026 18:00:00 GMT",
      ],
      ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "\(Int64.min)"],
    ]
    let pauses = limits.map { headers in
      let error = HTTPFailure.status(
        HTTPResponse(status: 403, headers: headers), during: "asking", awaited: "an answer")
      #expect(error.code == .remoteUnavailable)
      return error.retryAfter
    }
    #expect(
      pauses == [
        .seconds(2), .milliseconds(1500), .seconds(2), .seconds(2), .seconds(2), .seconds(2), .seconds(1),
      ])
    let others: [HTTPHeaders] = [[:], ["X-RateLimit-Remaining": "3", "X-RateLimit-Reset": "1775066402"]]
    for headers in others {
      let error = HTTPFailure.status(
        HTTPResponse(status: 403, headers: headers), during: "asking", awaited: "an answer")
      #expect(error.code == .permissionDenied && error.retryAfter == nil)
    }
  }

  /// Google's and GitHub's limits may have no header that tells of them.
  @Test(arguments: [
    #"{"error":{"code":403,"message":"User Rate Limit Exceeded"}}"#,
    #"{"message":"You have exceeded a secondary rate limit. Please wait."}"#, "Too many requests",
  ])
  func mayLimitTheRateOfRequestsInWords(_ body: String) {
    let response = HTTPResponse(status: 403, body: Array(body.utf8))
    let error = HTTPFailure.status(response, during: "asking", awaited: "an answer")
    #expect(error.code == .remoteUnavailable && error.retryAfter == .seconds(60))
  }

  @Test func mayMeanSomethingElseToOneServer() {
    let error = HTTPFailure.status(
      HTTPResponse(status: 421), during: "asking", awaited: "an answer", detail: "AUTH",
      special: [421: (.authentication, ": sign in.")])
    #expect(error.code == .authentication)
    #expect(error.message == "The server answered 421 (AUTH): sign in.")
  }
}
