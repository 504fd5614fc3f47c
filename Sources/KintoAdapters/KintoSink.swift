import HTTPAdapters
import SyncJSON
public import SyncModels
public import SyncPorts

/// Sends local edits to a bucket of a Kinto server; the counterpart of ``KintoSource``.
///
/// ```swift
/// let source = try KintoSource(
///   server: "https://settings.example.com/v1", bucket: "league", credentials: .bearer(token),
///   transport: transport)
/// let engine = try await SyncEngine(schema: schema, store: store, source: source, sink: KintoSink(source))
/// ```
///
/// Edits go to the batch endpoint, as many at once as the server's root allows. Each edit has its
/// own precondition: `If-None-Match` for a new record, the base's `last_modified` for any other. If
/// the precondition fails and the remote state already has exactly the edit's content, an earlier
/// attempt succeeded and its answer was lost. The edit then counts as accepted. A written record
/// gets the server's time, whatever `last_modified` its payload holds.
///
/// - Note: Only Kinto's listed tombstones distinguish a deleted record from one that never existed.
///   Consider a new record whose acknowledgement was lost, and that another client deleted before
///   the edit was sent again. It is created a second time.
/// - Note: With records in PostgreSQL, a server rolls back the accepted changes of a batch if a
///   later one meets another writer's lock (409). Such a batch counts as unanswered, and is sent
///   again whole.
public final class KintoSink: RemoteRecordSink {
  /// The identity of the source.
  public let identity: String
  private let server: KintoServer
  /// `true`: a record is any JSON object.
  public var keepsUnknownMembers: Bool { true }

  /// Creates a sink for the bucket that a source reads.
  ///
  /// It shares the source's credentials, transport and requested pauses.
  public init(_ source: KintoSource) {
    identity = source.identity
    server = source.server
  }

  /// Asks the server how many changes a batch may hold.
  public func limits() async throws(SyncError) -> SinkLimits {
    let response = try await server.session.send("GET", server.root, during: Self.operation)
    guard response.status == 200 else { throw failure(response) }
    return SinkLimits(maximumRecords: KintoRoot(response.body).batchLimit)
  }

  /// Sends changes as one batch.
  ///
  /// With records in PostgreSQL, a server fails a whole batch for one text with a NUL, say, and
  /// requests a pause as if it were overloaded. While the server answers other requests, the sink
  /// ignores that pause. The edit at fault can then be found, and pages keep coming.
  ///
  /// - Throws: `batchTooLarge` for more changes than the server takes; `authentication`,
  ///   `permissionDenied`; `remoteUnavailable` for 429, 5xx and a batch that was rolled back;
  ///   `invalidResponse` for an answer that is not Kinto's, or that lacks the outcome of a change.
  public func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    let response = try await post(changes)
    if (500...599).contains(response.status) {
      // Throws the server's answer to this request, if the whole server is unavailable.
      _ = try await limits()
      throw SyncError(
        .remoteUnavailable, during: Self.operation,
        "The server answered \(response.status) to \(Counted(changes.count, "edit")), although it answers other requests."
      )
    }
    return try outcomes(of: changes, response, entities)
  }

  private func post(_ changes: [OutgoingChange]) async throws(SyncError) -> HTTPResponse {
    var requests: [KintoBatch.Request] = []
    for change in changes {
      requests.append(try KintoBatch.Request(change, path: try server.pathInAPI(of: change.id)))
    }
    // Each request of the batch has its own precondition.
    return try await server.session.send(
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
        "Another writer held a lock, so the server may have rolled back accepted changes.")
    }
    if answers.contains(where: { $0.status == 401 }) { throw failure(HTTPResponse(status: 401)) }
    var outcomes: [PushOutcome] = []
    for (change, answer) in zip(changes, answers) {
      outcomes.append(try answer.outcome(of: change, entities[change.id.type] ?? Entity(change.id.type)))
    }
    return outcomes
  }

  /// The error for an answer to a whole request.
  private func failure(_ response: HTTPResponse) -> SyncError {
    HTTPFailure.status(response, during: Self.operation, awaited: "an answer to a batch")
  }

  private static let operation = "pushing edits"
}

/// A server's description of itself at its root address.
struct KintoRoot: Sendable {
  /// The most requests in a batch: the server's limit, or Kinto's default.
  let batchLimit: Int

  init(_ body: [UInt8]) {
    var limit: Int64?
    do {
      try JSONScanner.members(of: body[...]) { member throws(JSONError) in
        guard member.hasKey(Array("settings".utf8)), member.value.kind == .object else { return }
        try JSONScanner.members(of: member.value.bytes) { setting throws(JSONError) in
          if setting.hasKey(Array("batch_max_requests".utf8)) { limit = setting.value.integer() }
        }
      }
    } catch {
      // The default limit is a safe guess; the server reports a batch that is too large.
      limit = nil
    }
    batchLimit = Int(min(max(1, limit ?? 25), 1000))
  }
}
