#if CloudKit
  import HTTPAdapters
  import SyncJSON
  import SyncModels
  import SyncPorts
  import Synchronization

  /// Requests to one database, and the pauses that it asks for.
  final class CloudKitService: Sendable {
    let database: CloudKitDatabase
    let clock: any SyncPorts.Clock<Duration>
    private let session: HTTPSession

    /// The most records of an answer, and the most operations of a request.
    static let largestPage = 200

    init(
      _ database: CloudKitDatabase, access: CloudKitAccess, deadline: Duration, bodyLimit: Int,
      transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>
    ) throws(SyncError) {
      let operation = "preparing to reach CloudKit"
      try database.check()
      switch access {
      case .serverToServer where database.scope != .public:
        throw SyncError(
          .invalidConfiguration, during: operation,
          "A server-to-server key is for the public database. A \(database.scope.rawValue) one needs a user's web auth token."
        )
      case .user(let apiToken, _) where apiToken.isEmpty:
        throw SyncError(.invalidConfiguration, during: operation, "The API token is empty.")
      default: break
      }
      var options = HTTPSession.Options()
      options.deadline = deadline
      options.bodyLimit = bodyLimit
      options.plainHTTP = .onLoopback
      self.database = database
      self.clock = clock
      session = try HTTPSession(
        database.endpoint, like: "https://api.apple-cloudkit.com", authorization: nil, options: options,
        transport: AuthorizedTransport(access, transport, clock: clock), clock: clock, during: operation)
    }

    /// An answer, with the service's time when its request was sent.
    struct Reply: Sendable {
      var body: [UInt8]
      /// The service's clock before the request; `nil` if the answer has no date.
      var sentAt: Timestamp?
      var failure: ServiceFailure?
    }

    /// Sends a request.
    ///
    /// - Parameters:
    ///   - isRead: Whether a second copy has no second effect.
    ///   - recordType: The record type that the request is about, for messages.
    /// - Returns: The answer; a refusal as its failure.
    /// - Throws: `remoteUnavailable` during a pause, and for an answer that is none of the
    ///   service's; the errors of the transport.
    func post(
      _ operation: String, _ body: [UInt8], recordType: String?, during task: String
    ) async throws(SyncError) -> Reply {
      let elapsed = clock.stopwatch()
      let address = HTTPAddress(session.base.origin, path: session.rootPath + database.path(of: operation))
      // Every write has a precondition, so that a copy of a request has no second effect.
      let response = try await session.send(
        "POST", address, headers: ["Content-Type": "text/plain"], body: body, repeatsSafely: true,
        during: task)
      let date = response.headers["Date"].flatMap(HTTPDate.timestamp)
      if let failure = ServiceFailure(response) {
        heed(failure)
        return Reply(body: response.body, sentAt: date, failure: failure)
      }
      if response.status == 200 || isAnswerAboutRecords(response) {
        return Reply(body: response.body, sentAt: date.map { $0 - elapsed() })
      }
      throw HTTPFailure.status(response, during: task, awaited: "an answer of CloudKit")
    }

    /// Sends a request, and returns the answer to it.
    ///
    /// - Throws: The errors of ``post(_:_:recordType:during:)``, and each refusal as the error that
    ///   it means.
    func ask(
      _ operation: String, _ body: [UInt8], recordType: String?, during task: String
    ) async throws(SyncError) -> Reply {
      let reply = try await post(operation, body, recordType: recordType, during: task)
      if let failure = reply.failure { throw error(failure, reply, recordType: recordType, during: task) }
      return reply
    }

    /// Lets no request out until the pause that a failure asks for is over.
    ///
    /// The failure may stand in the place of a zone.
    func heed(_ failure: ServiceFailure) {
      if failure.closesDatabase, let length = failure.pause { session.notices.pause(for: length) }
    }

    /// Heeds the failures that stand in the places of records.
    func heed(_ list: RecordList) {
      for record in list.records where record.errorCode != nil {
        if let failure = ServiceFailure(record.bytes) { heed(failure) }
      }
    }

    /// The error that a refusal means to a caller.
    func error(
      _ failure: ServiceFailure, _ reply: Reply, recordType: String?, during task: String
    ) -> SyncError {
      failure.error(during: task, recordType: recordType, skew: reply.sentAt.flatMap(skew))
    }

    /// A sentence about a clock that is off; `nil` if it is not.
    private func skew(_ theirs: Timestamp) -> String? {
      let difference = clock.timestamp.duration(since: theirs)
      let minutes = Int64((difference.inSeconds / 60).rounded())
      guard abs(minutes) >= 5 else { return nil }
      return
        "This machine's clock is \(Counted(Int(abs(minutes)), "minute")) \(minutes > 0 ? "ahead of" : "behind") CloudKit's, and a signature is valid for about ten minutes: set the clock."
    }

    /// Whether an answer of an error status lists the fate of each record.
    private func isAnswerAboutRecords(_ response: HTTPResponse) -> Bool {
      guard response.status == 400 else { return false }
      var isAbout = false
      try? JSONScanner.members(of: response.body[...], depthLimit: .max) { member throws(JSONError) in
        if member.hasKey(Array("records".utf8)) { isAbout = member.value.kind == .array }
      }
      return isAbout
    }
  }

  /// Signs each request anew, or sends it with the user's token, one at a time.
  struct AuthorizedTransport: HTTPTransport {
    let access: CloudKitAccess
    let transport: any HTTPTransport
    let clock: any SyncPorts.Clock<Duration>
    private let turn = Turn()

    /// The header with the token for the next request.
    private static let nextToken = "X-Apple-CloudKit-Web-Auth-Token"

    init(_ access: CloudKitAccess, _ transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>) {
      self.access = access
      self.transport = transport
      self.clock = clock
    }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      var request = request
      switch access {
      case .serverToServer(let key):
        let headers = try key.headers(path: request.address.path, body: request.body, at: clock.timestamp)
        for (name, value) in headers.fields { request.headers[name] = value }
        return try await transport.send(request)
      case .user(let apiToken, let keeper):
        try await turn.take()
        defer { turn.pass() }
        let token = try await keeper.current()
        request.address = HTTPAddress(
          request.address.origin, path: request.address.path,
          query:
            "ckAPIToken=\(PercentEncoding.encoded(apiToken))&ckWebAuthToken=\(PercentEncoding.encoded(token))"
        )
        let response = try await transport.send(request)
        if let next = response.headers[Self.nextToken], !next.isEmpty, next != token {
          guard next.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw SyncError(
              .invalidResponse, during: "keeping the next web auth token",
              "The service's next web auth token has a character that no token has.")
          }
          try await keeper.keep(next)
        }
        return response
      }
    }
  }

  /// Lets tasks act one at a time, in the order in which they asked.
  private final class Turn: Sendable {
    private struct State {
      var isTaken = false
      var nextID = 0
      var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    }
    private let state = Mutex(State())

    /// Waits for the turn.
    ///
    /// - Throws: `cancelled` if the task is cancelled meanwhile; the turn is then not taken.
    func take() async throws(SyncError) {
      let id = state.withLock { state in
        state.nextID += 1
        return state.nextID
      }
      let isMine = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          // The handler below may have run already.
          let outcome = state.withLock { state -> Bool? in
            if Task.isCancelled { return false }
            guard state.isTaken else {
              state.isTaken = true
              return true
            }
            state.waiters.append((id, continuation))
            return nil
          }
          if let outcome { continuation.resume(returning: outcome) }
        }
      } onCancel: {
        let waiter = state.withLock { state in
          let place = state.waiters.firstIndex { $0.id == id }
          return place.map { state.waiters.remove(at: $0) }
        }
        waiter?.continuation.resume(returning: false)
      }
      guard isMine else { throw SyncError(.cancelled, during: "asking CloudKit") }
    }

    /// Ends the turn.
    func pass() {
      let next = state.withLock { state -> CheckedContinuation<Bool, Never>? in
        guard state.waiters.isEmpty else { return state.waiters.removeFirst().continuation }
        state.isTaken = false
        return nil
      }
      next?.resume(returning: true)
    }
  }
#endif
