public import SyncModels
public import SyncPorts

/// A bucket of a Kinto server as a place that local edits are sent to: the other half of a ``KintoSource``.
///
/// ```swift
/// let source = try KintoSource(server: "https://settings.example.com/v1", bucket: "league", credentials: .bearer(token))
/// let engine = try await SyncEngine(schema: schema, store: store, source: source, sink: KintoSink(source))
/// ```
///
/// Edits go to the batch endpoint, as many at once as the server's root says it takes. Each carries its own precondition: a new record `If-None-Match`, any
/// other the `last_modified` that it was made on. Where the precondition fails because the very content is there already, that is the
/// acknowledgement of an earlier attempt whose answer was lost. What is written has the server's time, whatever `last_modified` a payload
/// holds.
///
/// - Note: Kinto tells a record that was deleted from one that never was only by listing tombstones. A new record whose acknowledgement was lost, and
///   that somebody deleted before it was sent again, is therefore created a second time.
/// - Note: Where records are in PostgreSQL, a server rolls back what it has already accepted of a batch when a later change meets another writer's
///   lock (409). Such a batch counts as unanswered and is sent again whole.
public final class KintoSink: RemoteRecordSink {
  /// That of the source.
  public let identity: String
  private let server: KintoServer
  /// Yes: a record is any JSON object.
  public var keepsUnknownMembers: Bool { true }

  /// A sink for the bucket that a source reads, with its credentials, its transport, and the pauses that the server asked it for.
  public init(_ source: KintoSource) {
    identity = source.identity
    server = source.server
  }

  /// Asks the server how many changes it takes at once.
  public func limits() async throws(SyncError) -> SinkLimits {
    let response = try await server.ask("GET", server.root, during: Self.operation)
    guard response.status == 200 else { throw failure(response) }
    return SinkLimits(maximumRecords: KintoRoot(response.body).batchLimit)
  }

  /// Sends changes as one batch.
  ///
  /// Where records are in PostgreSQL, a server fails at a whole batch for one text with a NUL, say, and asks for a pause as if it were overloaded. While it
  /// answers other requests, that pause is not kept, so that the edit at fault can be found and pages come meanwhile.
  ///
  /// - Throws: `batchTooLarge` for more than the server takes; `authentication`, `permissionDenied`; `remoteUnavailable` for 429, 5xx and a
  ///   batch that was rolled back; `invalidResponse` for an answer that is none of Kinto's, or that does not tell what became of a change.
  public func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let response = try await post(changes)
    if (500...599).contains(response.status) {
      // Throws what the server says to this, if it is not there for anybody.
      _ = try await limits()
      throw SyncError(
        .remoteUnavailable, during: Self.operation,
        "The server answered \(response.status) to \(Counted(changes.count, "edit")), though it is there.")
    }
    return try outcomes(of: changes, response, entities)
  }

  private func post(_ changes: [OutgoingChange]) async throws(SyncError) -> HTTPResponse {
    var requests: [KintoBatch.Request] = []
    for change in changes {
      requests.append(try KintoBatch.Request(change, path: try server.pathInAPI(of: change.id)))
    }
    // Each request of the batch has a precondition of its own.
    return try await server.ask(
      "POST", server.batch, headers: ["Content-Type": "application/json"], body: KintoBatch.body(requests),
      repeatsSafely: true, isAboutEdits: true, during: Self.operation)
  }

  private func outcomes(
    of changes: [OutgoingChange], _ response: HTTPResponse, _ entities: SyncSchema
  ) throws(SyncError) -> [PushOutcome] {
    guard response.status == 200 else {
      guard response.status == 413 || (response.status == 400 && changes.count > 1) else {
        throw failure(response)
      }
      guard changes.count > 1 else {
        return [.refused(reason: "The record is larger than the server takes.")]
      }
      throw SyncError(
        .batchTooLarge, during: Self.operation,
        "The server does not take \(Counted(changes.count, "change")) at once.")
    }
    let answers = try KintoBatch.answers(in: response.body, count: changes.count)
    if answers.contains(where: { $0.status == 409 }) {
      throw SyncError(
        .remoteUnavailable, during: Self.operation,
        "Another writer was in the way, so the server may have undone what it accepted.")
    }
    if answers.contains(where: { $0.status == 401 }) { throw failure(HTTPResponse(status: 401)) }
    var outcomes: [PushOutcome] = []
    for (change, answer) in zip(changes, answers) {
      outcomes.append(try answer.outcome(of: change, entities[change.id.type] ?? Entity(change.id.type)))
    }
    return outcomes
  }

  /// What an answer to a whole request means.
  private func failure(_ response: HTTPResponse) -> SyncError {
    let status = "The server answered \(response.status)"
    return switch response.status {
    case 401:
      SyncError(.authentication, during: Self.operation, "\(status): it does not accept the credentials.")
    case 403:
      SyncError(.permissionDenied, during: Self.operation, "\(status): these credentials may not do that.")
    case 408, 429, 500...599:
      SyncError(
        .remoteUnavailable, during: Self.operation, "\(status).",
        retryAfter: RequestedPause.retryAfter(in: response))
    case 400...499:
      SyncError(
        .invalidConfiguration, during: Self.operation, "\(status): it does not understand the request.")
    default:
      SyncError(.invalidResponse, during: Self.operation, "\(status), which is no answer to a batch.")
    }
  }

  private static let operation = "pushing edits"
}
