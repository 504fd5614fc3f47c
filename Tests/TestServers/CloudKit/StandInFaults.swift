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
      /// An error stands in one record's place, maybe with a pause in seconds.
      case errorInPlace(_ code: String = "INTERNAL_ERROR", pause: Int? = nil)
      /// An error stands in a zone's place.
      case errorInZone(_ code: String = "INTERNAL_ERROR", pause: Int? = nil)
      /// Every token and marker so far is void.
      case expiredTokens
      /// The change token does not go on.
      case stuckToken
      /// A redirect to another origin.
      case redirect
      /// An answer that is not JSON.
      case garbage
      /// The answer to any request.
      case answer(String)
      /// Nothing goes wrong.
      case nothing

      /// The answer, if the request gets no further.
      func earlyAnswer(_ state: inout State, _ call: Call) throws(Answer) -> Answer? {
        switch self {
        case .lostRequest:
          var answer = Answer([])
          answer.isLost = true
          return answer
        case .lostAnswer, .errorInPlace, .errorInZone, .expiredTokens, .stuckToken, .nothing: return nil
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

  /// An error inside a good answer.
  struct ErrorInPlace {
    var code: String
    var pause: Int?

    /// The error of a record or a zone.
    ///
    /// - Parameter place: The member that names it.
    func json(_ place: String) -> String {
      let pause = pause.map { #","retryAfter":\#($0)"# } ?? ""
      return #"{\#(place),"serverErrorCode":"\#(code)","reason":"the shard is away"\#(pause)}"#
    }
  }

  extension StandInCloudKit.State {
    /// Prepares the errors inside the answer to the next request.
    mutating func prepare(_ fault: StandInCloudKit.Fault?) {
      (recordError, zoneError, isStuck) = (nil, nil, false)
      switch fault {
      case .errorInPlace(let code, let pause): recordError = ErrorInPlace(code: code, pause: pause)
      case .errorInZone(let code, let pause): zoneError = ErrorInPlace(code: code, pause: pause)
      case .expiredTokens: expireTokens()
      case .stuckToken: isStuck = true
      default: break
      }
    }

    /// Chooses the place of one record's error, if there is to be one.
    mutating func choosePlace(_ places: Range<Int>) -> Int? {
      guard recordError != nil, let place = places.randomElement(using: &random) else { return nil }
      pause = recordError?.pause
      return place
    }

    /// The fault that the next request meets: by the script, or else by chance.
    mutating func nextFault(of call: Call) -> StandInCloudKit.Fault? {
      if let next = script.first {
        // A stuck token stays so.
        if next != .stuckToken { script.removeFirst() }
        return next
      }
      // The same token twice without records is an error, which nothing mends.
      if wasStuck {
        wasStuck = false
        return nil
      }
      guard chance(settings.faults) else { return nil }
      let seconds = Int.random(in: 1...30, using: &random)
      var faults: [StandInCloudKit.Fault] = [
        .lostRequest, .lostAnswer, .throttled(seconds: seconds), .throttledByHeaders(seconds: seconds),
        .tryAgainLater(seconds: seconds), .indexing(seconds: seconds), .internalError, .proxyPage, .garbage,
        .expiredTokens,
      ]
      if call.operation == "changes/zone" {
        faults += [.errorInPlace(), .errorInZone(), .errorInZone("THROTTLED", pause: seconds), .stuckToken]
      } else if call.operation == "records/query" {
        faults += [.errorInPlace(), .errorInPlace("TRY_AGAIN_LATER", pause: seconds)]
      }
      let fault = faults.randomElement(using: &random)
      wasStuck = fault == .stuckToken
      return fault
    }
  }
#endif
