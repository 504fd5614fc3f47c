public import SyncModels
public import SyncPorts

/// How the checks get at a sink and at the little world that it writes: empty at first, and changed by nobody else.
///
/// The world holds records of one type, `items`, each a key and a JSON object with a whole number as its member `value`. A harness serves
/// one check.
public struct SinkHarness: Sendable {
  /// The declaration of the type that the checks push: the one of ``SourceHarness``.
  public static let entity = SourceHarness.entity

  /// The sink to check.
  public var sink: any RemoteRecordSink
  /// Writes a record, as another client of the remote would.
  public var upsert: @Sendable (_ key: String, _ value: Int) async throws -> Void
  /// Deletes a record, as another client of the remote would.
  public var delete: @Sendable (_ key: String) async throws -> Void
  /// What a source over the same data says of a record now: its copy; its tombstone, or nothing, if it does not exist.
  public var read: @Sendable (_ key: String) async throws -> RecordChange?
  /// Whether the remote remembers sent changes or deletions, and so tells a record that was deleted since from one that never was.
  public var remembersWhatIsGone = true
  /// The members that the source declares as the remote's own to write; see `SourceCapabilities`.
  public var serverManagedFields: [FieldName] = []
  /// Makes a second sink over the same data, as another process does; `nil` where that cannot be done.
  public var reopen: (@Sendable () async throws -> any RemoteRecordSink)?

  /// Describes how to get at a sink; what cannot be done stays `nil`, and the checks that need it go without.
  public init(
    sink: any RemoteRecordSink,
    upsert: @escaping @Sendable (_ key: String, _ value: Int) async throws -> Void,
    delete: @escaping @Sendable (_ key: String) async throws -> Void,
    read: @escaping @Sendable (_ key: String) async throws -> RecordChange?
  ) {
    self.sink = sink
    self.upsert = upsert
    self.delete = delete
    self.read = read
  }
}
