public import SyncModels
public import SyncPorts

/// Sends local edits to a JSON API; the counterpart of ``RESTSource``.
///
/// ```swift
/// let source = try RESTSource(api, transport: transport)
/// let engine = try await SyncEngine(schema: api.schema, store: store, source: source, sink: RESTSink(source))
/// ```
///
/// Each edit is a request of its own, to a path with the record's key. The record is looked at
/// first. If it already has the edit's content, an earlier attempt succeeded and its answer was
/// lost: the edit counts as accepted. If it is in another state than the edit's base, the edit is a
/// conflict. The write then carries the description's precondition, so that another client cannot
/// come between; 409 and 412 are conflicts with the record as it is then. A deletion that finds no
/// record is done.
///
/// - Note: Without a precondition, a write of another client between the look and ours is lost.
/// - Note: A type without ``RESTAPI/Collection/push`` refuses every edit.
public final class RESTSink: RemoteRecordSink {
  /// The identity of the source.
  public let identity: String
  /// As the description says.
  public let keepsUnknownMembers: Bool

  private let source: RESTSource
  private static let operation = "pushing edits"

  /// Creates a sink for the API that a source reads.
  ///
  /// It shares the source's credentials, transport and requested pauses.
  public init(_ source: RESTSource) {
    self.source = source
    identity = source.identity
    keepsUnknownMembers = source.api.keepsUnknownMembers
  }

  /// Returns a limit of twenty edits, each of which takes two requests or more.
  public func limits() -> SinkLimits { SinkLimits(maximumRecords: 20) }

  /// Sends changes one after another.
  ///
  /// Once one has its outcome, a failure leaves the rest for later.
  ///
  /// - Throws: `authentication`, `remoteUnavailable` and the like, if not even the first change has
  ///   an outcome.
  public func push(
    _ changes: [OutgoingChange], entities: SyncSchema
  ) async throws(SyncError) -> [PushOutcome] {
    var outcomes: [PushOutcome] = []
    for change in changes {
      do throws(SyncError) {
        let entity = entities[change.id.type] ?? Entity(change.id.type)
        outcomes.append(try await RESTEdit(change, entity, source).push(during: Self.operation))
      } catch {
        guard !outcomes.isEmpty else { throw error }
        let rest = changes.count - outcomes.count
        return outcomes + Array(repeating: .retryLater(after: error.retryAfter), count: rest)
      }
    }
    return outcomes
  }
}
