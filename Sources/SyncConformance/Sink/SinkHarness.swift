public import SyncModels
public import SyncPorts

/// Access of the checks to a sink and to its test data.
///
/// The data are empty at first, and only the check changes them. They are records of one type,
/// `items`, each with a key and a JSON object whose member `value` is a whole number. A harness
/// serves one check.
public struct SinkHarness: Sendable {
  /// The declaration of the type that the checks push: the one of ``SourceHarness``.
  public static let entity = SourceHarness.entity

  /// The sink to check.
  public var sink: any RemoteRecordSink
  /// Writes a record, as another client of the remote would.
  public var upsert: @Sendable (_ key: String, _ value: Int) async throws -> Void
  /// Deletes a record, as another client of the remote would.
  public var delete: @Sendable (_ key: String) async throws -> Void
  /// Reads a record through a source over the same data.
  ///
  /// It returns the copy. For a record that does not exist it returns the tombstone, or `nil`.
  public var read: @Sendable (_ key: String) async throws -> RecordChange?
  /// Whether the remote remembers sent changes or deletions.
  ///
  /// It then distinguishes a deleted record from one that never existed.
  public var remembersWhatIsGone = true
  /// The server-managed fields that the source declares; see `SourceCapabilities`.
  ///
  /// Most servers write some, such as an `id` and the time of the change: name both here and there.
  public var serverManagedFields: [FieldName] = []
  /// Whether the remote keeps each digit of a number.
  ///
  /// A server that reads numbers as doubles, as JavaScript does, rounds whole numbers above 2^53.
  /// It is `false` for such a one, and apps keep large numbers as strings.
  public var keepsEachDigit = true
  /// Creates a second sink over the same data, as another process does.
  ///
  /// It is `nil` if that is impossible.
  public var reopen: (@Sendable () async throws -> any RemoteRecordSink)?

  /// Creates access to a sink. Checks go without the functions that are `nil`.
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
