#if CloudKit
  public import SyncModels
  public import SyncPorts

  /// Sends local edits to a CloudKit database; the counterpart of ``CloudKitSource``.
  ///
  /// ```swift
  /// let engine = try await SyncEngine(
  ///   schema: schema, store: store, source: source, sink: CloudKitSink(source))
  /// ```
  ///
  /// Each edit is one operation, on the condition of its base's change tag: `create` for a new
  /// record, `update` with the changed fields alone, `replace` if fields are gone, `delete`.
  /// After a conflict, the server's record is looked up. If it has exactly the edit's content, an
  /// earlier attempt succeeded and its answer was lost: the edit then counts as accepted.
  ///
  /// In a zone, edits of records that refer to each other are applied together or not at all.
  ///
  /// - Note: A deletion leaves nothing in the public database that tells a deleted record from one
  ///   that never existed. Consider a new record whose acknowledgement was lost, and that another
  ///   client deleted before the edit was sent again. It is created a second time. A declared
  ///   ``CloudKitType/deleted`` field prevents that.
  public final class CloudKitSink: RemoteRecordSink {
    /// The identity of the source.
    public let identity: String
    private let source: CloudKitSource

    /// Creates a sink for the database that a source reads.
    ///
    /// It shares the source's access, transport and requested pauses.
    public init(_ source: CloudKitSource) {
      identity = source.identity
      self.source = source
    }

    /// Two hundred operations, and a megabyte.
    public func limits() async throws(SyncError) -> SinkLimits {
      SinkLimits(maximumRecords: CloudKitService.largestPage, maximumBytes: 1_000_000)
    }

    /// Sends changes, each as one operation.
    ///
    /// - Throws: `batchTooLarge` for more changes than an answer has room for, and for a batch that
    ///   the service does not understand as a whole; `authentication`, `permissionDenied`;
    ///   `remoteUnavailable`, with the requested pause, for throttling and failures of the service;
    ///   `invalidResponse` for an answer that lacks the outcome of a change.
    public func push(
      _ changes: [OutgoingChange], entities: SyncSchema
    ) async throws(SyncError) -> [PushOutcome] {
      if changes.isEmpty { return [] }
      guard changes.count <= CloudKitService.largestPage else {
        throw SyncError(
          .batchTooLarge, during: Self.task,
          "CloudKit takes \(CloudKitService.largestPage) changes at once, not \(changes.count).")
      }
      var push = Push(source: source)
      for (index, change) in changes.enumerated() {
        let entity = entities[change.id.type] ?? Entity(change.id.type)
        push.add(index, change, try source.reader(entity))
      }
      try await push.send()
      try await push.lookUp()
      var outcomes: [PushOutcome] = []
      for index in changes.indices {
        guard let outcome = push.outcomes[index] else {
          throw SyncError(
            .invalidResponse, during: Self.task, "CloudKit does not tell the result of a change.")
        }
        outcomes.append(outcome)
      }
      return outcomes
    }

    static let task = "pushing edits"
  }
#endif
