#if CloudKit
  import HTTPAdapters
  import SyncJSON
  import SyncModels
  import SyncPorts

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
#endif
