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
    private let transport: AuthorizedTransport
    /// The signed-in user, while each token is the successor of the one that asked.
    private let user = Mutex<String?>(nil)

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
      self.transport = AuthorizedTransport(access, transport, clock: clock)
      session = try HTTPSession(
        database.endpoint, like: "https://api.apple-cloudkit.com", authorization: nil, options: options,
        transport: self.transport, clock: clock, during: operation)
    }

    /// Returns the signed-in user's name; `nil` for a key, and if the service does not tell.
    func caller(during task: String) async throws(SyncError) -> String? {
      guard case .user(_, let keeper) = transport.access else { return nil }
      let isSameChain = transport.isExpected(try await keeper.current())
      if isSameChain, let user = user.withLock({ $0 }) { return user }
      let path = session.rootPath + database.path(of: "users/caller", in: .public)
      let response = try await session.send(
        "GET", HTTPAddress(session.base.origin, path: path), mayBeCompressed: true, during: task)
      if let failure = ServiceFailure(response) {
        heed(failure)
        let error = failure.error(during: task, recordType: nil)
        guard [.authentication, .remoteUnavailable].contains(error.code) else { return nil }
        throw error
      }
      guard response.status == 200 else {
        let error = HTTPFailure.status(response, during: task, awaited: "an answer of CloudKit")
        guard [.authentication, .remoteUnavailable].contains(error.code) else { return nil }
        throw error
      }
      guard let value = try? JSONValueSlice(checking: response.body[...]),
        let name = JSONPointer("/userRecordName").value(in: value)?.string()
      else { return nil }
      user.withLock { $0 = name }
      return name
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
        mayBeCompressed: true,
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
    /// The token of the next request, as the last answer has left it. Another process may have used it.
    private let expected = Expected()

    /// The header with the token for the next request.
    private static let nextToken = "X-Apple-CloudKit-Web-Auth-Token"

    init(_ access: CloudKitAccess, _ transport: any HTTPTransport, clock: any SyncPorts.Clock<Duration>) {
      self.access = access
      self.transport = transport
      self.clock = clock
    }

    var boundsCompressedBodies: Bool { transport.boundsCompressedBodies }

    /// Whether a token comes from the last answer.
    func isExpected(_ token: String) -> Bool { expected.token.withLock { $0 == token } }

    private final class Expected: Sendable {
      let token = Mutex<String?>(nil)
    }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      var request = request
      switch access {
      case .serverToServer(let key):
        let headers = try key.headers(path: request.address.path, body: request.body, at: clock.timestamp)
        for (name, value) in headers.fields { request.headers[name] = value }
        return try await transport.send(request)
      case .user(let apiToken, let keeper):
        try await turn.take(during: "asking CloudKit")
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
          expected.token.withLock { $0 = next }
        } else {
          expected.token.withLock { $0 = token }
        }
        return response
      }
    }
  }
#endif
