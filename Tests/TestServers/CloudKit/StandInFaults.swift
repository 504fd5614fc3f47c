#if CloudKit && os(Linux)
  import HTTPAdapters
  import InMemoryAdapters
  import SyncModels

  extension StandInCloudKit {
    /// What goes wrong with one request.
    package enum Fault: Hashable, Sendable {
      /// The connection ends before the request has an effect, or after it.
      case lostRequest, lostAnswer
      /// The database is closed for some seconds, said in the body or in headers.
      case throttled(seconds: Int), throttledByHeaders(seconds: Int)
      /// The service asks for another attempt, as 503 or as 400.
      case tryAgainLater(seconds: Int), indexing(seconds: Int)
      case internalError
      /// A proxy answers instead of the service.
      case proxyPage
      /// An error with an undocumented code.
      case unknownCode
      /// One record of a page is an error.
      case errorInPlace
      /// The change token does not go on.
      case stuckToken
      /// A redirect to another origin.
      case redirect
      /// An answer that is not JSON.
      case garbage
      /// The answer to any request.
      case answer(String)

      /// The answer, if the request gets no further.
      func earlyAnswer(_ state: inout State, _ call: Call) throws(Answer) -> Answer? {
        switch self {
        case .lostRequest:
          var answer = Answer([])
          answer.isLost = true
          return answer
        case .lostAnswer, .errorInPlace, .stuckToken: return nil
        case .throttled(let seconds):
          return Answer("THROTTLED", "too many requests", retryAfter: Double(seconds))
        case .throttledByHeaders(let seconds):
          var answer = Answer(Array("<html>busy</html>".utf8))
          answer.status = 503
          answer.headers = ["error_code": "THROTTLED", "Retry-After": "\(seconds)"]
          answer.pause = Double(seconds)
          return answer
        case .tryAgainLater(let seconds):
          return Answer("TRY_AGAIN_LATER", "busy", retryAfter: Double(seconds))
        case .indexing(let seconds):
          return Answer("TRY_AGAIN_LATER", "Indexing scheduled", retryAfter: Double(seconds), status: 400)
        case .internalError: return Answer("INTERNAL_ERROR", "something failed")
        case .proxyPage:
          var answer = Answer(Array("<html>bad gateway</html>".utf8))
          answer.status = 502
          return answer
        case .unknownCode: return Answer("SOMETHING_NEW", "undocumented", status: 400)
        case .redirect:
          var answer = Answer([])
          answer.status = 302
          answer.headers = ["Location": "https://elsewhere.test/database/1/x"]
          return answer
        case .garbage: return Answer(Array("{\"records\":[{\"recordName\":".utf8))
        case .answer(let text): return Answer(Array(text.utf8))
        }
      }
    }
  }

  extension StandInCloudKit.State {
    /// The fault that the next request meets: by the script, or else by chance.
    mutating func nextFault(of call: Call) -> StandInCloudKit.Fault? {
      if let next = script.first {
        // These two are taken where the page is made.
        if next != .errorInPlace, next != .stuckToken { script.removeFirst() }
        return next
      }
      guard chance(settings.faults) else { return nil }
      let seconds = Int.random(in: 1...30, using: &random)
      let faults: [StandInCloudKit.Fault] = [
        .lostRequest, .lostAnswer, .throttled(seconds: seconds), .throttledByHeaders(seconds: seconds),
        .tryAgainLater(seconds: seconds), .indexing(seconds: seconds), .internalError, .proxyPage,
        .errorInPlace, .garbage,
      ]
      let fault = faults.randomElement(using: &random)
      if fault == .errorInPlace { isSpoiled = true }
      return fault
    }
  }
#endif
