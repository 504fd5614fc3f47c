#if CloudKit && os(Linux)
  package import HTTPAdapters
  import InMemoryAdapters
  package import SyncModels
  package import SyncPorts
  import SyncJSON
  import Synchronization

  /// A stand-in for Apple's service, in memory, as strict as its documentation.
  ///
  /// It checks signatures and tokens, enforces limits and the rules of zones, binds markers to
  /// their queries, and updates indexes late. What is only inferred of the service varies with the
  /// seed. It was written from documents: nothing here was compared with Apple's servers.
  package final class StandInCloudKit: HTTPTransport {
    package static let endpoint = "https://cloudkit.test"
    package static let container = "iCloud.test"

    /// One request, by the service's clock.
    package struct Entry: Sendable {
      package var operation: String
      package var arrived: Timestamp
      package var status: Int
      /// When requests are allowed again, if the answer said so.
      package var closedUntil: Timestamp?
      package var address: String
      package var body: [UInt8]
    }

    struct State {
      var settings: Settings
      var random: SplitMix64
      var databases: [String: Database] = [:]
      var entries: [Entry] = []
      /// The first of the service's rules that a client broke.
      var violation: String?
      var closedUntil: Timestamp?
      var webToken = ""
      /// The user who is signed in.
      var user = "_user1"
      var tokensIssued = 0
      /// The faults that the next requests meet.
      var script: [Fault] = []
      /// The errors inside the current answer.
      var recordError: ErrorInPlace?
      var zoneError: ErrorInPlace?
      /// The seconds of the pause that such an error asks for.
      var pause: Int?
      /// Whether the change token of the current answer does not go on.
      var isStuck = false
      /// Whether that of the last one did not, by chance.
      var wasStuck = false
    }

    let clock: any SyncPorts.Clock<Duration>
    let state: Mutex<State>

    /// Creates an empty container.
    ///
    /// - Parameter clock: Tells the service's time.
    package init(settings: Settings = Settings(), clock: any SyncPorts.Clock<Duration>) {
      self.clock = clock
      state = Mutex(State(settings: settings, random: SplitMix64(seed: settings.seed)))
    }

    /// The requests so far.
    package var entries: [Entry] { state.withLock { $0.entries } }
    /// The first rule that a client broke.
    package var violation: String? { state.withLock { $0.violation } }
    /// The web auth token that the next request has to bear.
    package var webToken: String {
      get { state.withLock { $0.webToken } }
      set { state.withLock { $0.webToken = newValue } }
    }
    /// The user who is signed in.
    package var user: String {
      get { state.withLock { $0.user } }
      set { state.withLock { $0.user = newValue } }
    }
    /// Forgets the requests so far.
    package func forgetEntries() { state.withLock { $0.entries = [] } }
    /// Changes the settings.
    package func change(_ body: @Sendable (inout Settings) -> Void) {
      state.withLock { body(&$0.settings) }
    }
    /// Lets the next requests meet faults, in this order.
    package func script(_ faults: [Fault]) { state.withLock { $0.script += faults } }

    package func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      let latency = state.withLock { state in
        if "\(request.address.origin)" != Self.endpoint { state.violate("A request went to another origin.") }
        return state.settings.latency
      }
      if latency > .zero { try? await clock.pause(for: latency) }
      let answer = answer(
        method: request.method, target: request.address.path + (request.address.query.map { "?\($0)" } ?? ""),
        headers: request.headers, body: request.body)
      guard let answer else {
        throw SyncError(.remoteUnavailable, during: "asking the stand-in", "The connection was lost.")
      }
      return answer
    }

    /// The answer to a request; `nil` if the connection ends without one.
    package func answer(
      method: String, target: String, headers: HTTPHeaders, body: [UInt8]
    ) -> HTTPResponse? {
      let now = clock.timestamp
      return state.withLock { state in
        let parts = target.split(separator: "?", maxSplits: 1).map(String.init)
        // The request for the user spends no token and meets no fault.
        if method == "GET", parts[0].hasSuffix("/public/users/caller") {
          return HTTPResponse(status: 200, body: Array(#"{"userRecordName":"\#(state.user)"}"#.utf8))
        }
        var call = Call(
          method: method, path: parts[0], query: parts.count > 1 ? parts[1] : "", headers: headers,
          body: body, now: now)
        let fault = state.nextFault(of: call)
        if let until = state.closedUntil, now < until {
          state.violate("A request came before the pause of a THROTTLED or TRY_AGAIN_LATER was over.")
        }
        let token = state.webToken
        state.prepare(fault)
        state.pause = nil
        var answer: Answer
        do throws(Answer) {
          if let fault, let early = try fault.earlyAnswer(&state, call) {
            answer = early
          } else {
            answer = try state.answer(&call)
          }
        } catch {
          answer = error
        }
        if fault == .lostAnswer {
          answer.isLost = true
          // A lost answer spends no token.
          state.webToken = token
        }
        answer.pause = answer.pause ?? state.pause.map(Double.init)
        if let pause = answer.pause { state.closedUntil = now + .seconds(pause) }
        state.entries.append(
          Entry(
            operation: call.operation, arrived: now, status: answer.isLost ? 0 : answer.status,
            closedUntil: answer.pause.map { now + .seconds($0) }, address: target, body: body))
        guard !answer.isLost else { return nil }
        var response = HTTPResponse(status: answer.status, headers: answer.headers, body: answer.body)
        if state.settings.tellsDate {
          response.headers["Date"] = ServiceDate.text(now + state.settings.dateSkew)
        }
        return response
      }
    }
  }

  /// A request as the service reads it.
  struct Call {
    var method: String
    var path: String
    var query: String
    var headers: HTTPHeaders
    var body: [UInt8]
    var now: Timestamp
    var database = ""

    /// The last two parts of the path, such as `records/query`.
    var operation: String { path.split(separator: "/").suffix(2).joined(separator: "/") }
    var milliseconds: Int64 { now.microseconds / 1000 }
  }

  /// An answer, thrown where it ends the reading of a request.
  struct Answer: Error {
    var status = 200
    var headers: HTTPHeaders = [:]
    var body: [UInt8] = []
    /// The seconds for which the whole database is closed.
    var pause: Double?
    var isLost = false

    init(_ body: [UInt8]) { self.body = body }

    init(_ code: String, _ reason: String, retryAfter: Double? = nil, status: Int? = nil) {
      self.status = status ?? Self.statuses[code] ?? 400
      pause = retryAfter
      var text = #"{"uuid":"0-0","serverErrorCode":"\#(code)","reason":"\#(reason)""#
      if let retryAfter { text += #","retryAfter":\#(retryAfter)"# }
      if code == "AUTHENTICATION_REQUIRED" { text += #","redirectURL":"https://www.icloud.com/sign-in?x=1""# }
      body = Array((text + "}").utf8)
    }

    private static let statuses = [
      "ACCESS_DENIED": 403, "ATOMIC_ERROR": 400, "AUTHENTICATION_FAILED": 401, "AUTHENTICATION_REQUIRED": 421,
      "BAD_REQUEST": 400, "CONFLICT": 409, "EXISTS": 409, "INTERNAL_ERROR": 500, "NOT_FOUND": 404,
      "QUOTA_EXCEEDED": 413, "THROTTLED": 429, "TRY_AGAIN_LATER": 503, "ZONE_NOT_FOUND": 404,
    ]
  }

  extension StandInCloudKit {
    /// The kind of service.
    package struct Settings: Sendable {
      package var seed: UInt64 = 1
      /// The public half of the server-to-server key, in PEM, with its name.
      package var publicKey = ""
      package var keyID = "key"
      package var apiToken = "api+token/="
      /// Whether each web auth token is good for one round trip.
      package var tokensAreForOneTrip = true
      /// The fields of each record type that may be filtered and sorted by.
      package var queryable: Set<String> = ["___modTime"]
      package var sortable: Set<String> = ["___modTime"]
      /// The longest time until an index knows of a write.
      package var indexLag: Duration = .zero
      /// The granularity of modification times.
      package var granularity: Int64 = 1
      /// Whether a stale index shows the old content as well.
      package var showsOldContent = true
      /// Whether a marker counts records, so that a moved one shifts the rest.
      package var countsByOffset = false
      /// Whether pages may be short or empty without being the last.
      package var hasShortPages = false
      /// Whether a filter by type omits tombstones without a type.
      package var filterOmitsTombstones = false
      package var tombstonesHaveType = false
      /// The share of requests that meet a fault.
      package var faults = 0.0
      package var latency: Duration = .zero
      package var tellsDate = true
      package var dateSkew: Duration = .zero
      /// The bytes that the account has room for.
      package var quota = Int.max
      /// The most records of an answer.
      package var mostRecords = 200

      package init() {}
    }
  }

  extension StandInCloudKit.State {
    /// Records that a client broke a rule. The first one counts.
    mutating func violate(_ sentence: String) { violation = violation ?? sentence }

    /// Checks who asks, and answers.
    mutating func answer(_ call: inout Call) throws(Answer) -> Answer {
      let parts = call.path.split(separator: "/").map(String.init)
      guard parts.count == 7, parts[0] == "database", parts[1] == "1",
        parts[2] == StandInCloudKit.container, ["development", "production"].contains(parts[3]),
        ["public", "private", "shared"].contains(parts[4])
      else { throw Answer("BAD_REQUEST", "no such address") }
      call.database = parts[4]
      guard call.method == "POST" else { throw Answer("BAD_REQUEST", "method not allowed", status: 405) }
      let token = try authenticate(call)
      settle(at: call.milliseconds)
      if databases[call.database] == nil { databases[call.database] = Database() }
      var answer: Answer
      do throws(Answer) {
        answer =
          switch call.operation {
          case "records/query": try query(call)
          case "records/lookup": try lookup(call)
          case "records/modify": try modify(call)
          case "changes/zone": try zoneChanges(call)
          default: throw Answer("BAD_REQUEST", "no such operation")
          }
      } catch {
        answer = error
      }
      // The successor comes with refusals too.
      if let token { answer.headers["X-Apple-CloudKit-Web-Auth-Token"] = token }
      return answer
    }
  }
#endif
