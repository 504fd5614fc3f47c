public import SyncModels
public import SyncPorts

/// Access of the checks to a source and to its test data.
///
/// The data are empty at first, and only the check changes them. They are records of one type,
/// `items`, each with a key and a JSON object whose member `value` is a whole number. A harness
/// serves one check.
public struct SourceHarness: Sendable {
  /// The declaration of the type that the checks pull.
  public static let entity = Entity("items", indexes: ["value"])

  /// The capabilities of the source for that type.
  var capabilities: SourceCapabilities { source.capabilities(of: Self.entity.type) }

  /// The source to check.
  public var source: any RemoteRecordSource
  /// Writes a record, as another client of the remote would.
  public var upsert: @Sendable (_ key: String, _ value: Int) async throws -> Void
  /// Deletes a record, as another client of the remote would.
  public var delete: @Sendable (_ key: String) async throws -> Void
  /// Creates a second source over the same data, as another process does.
  ///
  /// It is `nil` if that is impossible.
  public var reopen: (@Sendable () async throws -> any RemoteRecordSource)?
  /// Advances the remote's time until earlier changes are outside any overlap.
  ///
  /// It is `nil` if that is impossible.
  public var settle: (@Sendable () async throws -> Void)?
  /// Bytes that are not a record, as the remote's format can carry them.
  ///
  /// They are a cut object by default. In a JSON array, which no cut element can be in, they are a
  /// value that is no record, such as `{"value":5}` without a key.
  public var malformedBytes = Array(#"{"value":"#.utf8)
  /// Adds ``malformedBytes`` beside all that was added; `nil` if that is impossible.
  public var putMalformed: (@Sendable (_ bytes: [UInt8]) async throws -> Void)?
  /// Invalidates every token so far; `nil` if that is impossible.
  public var voidTokens: (@Sendable () async throws -> Void)?
  /// Begins a write that becomes visible when the returned function is called.
  ///
  /// It is `nil` if that is impossible.
  public var beginUpsert: (@Sendable (_ key: String, _ value: Int) async throws -> @Sendable () -> Void)?

  /// Creates access to a source. Checks that need a `nil` function are skipped.
  public init(
    source: any RemoteRecordSource,
    upsert: @escaping @Sendable (_ key: String, _ value: Int) async throws -> Void,
    delete: @escaping @Sendable (_ key: String) async throws -> Void
  ) {
    self.source = source
    self.upsert = upsert
    self.delete = delete
  }
}
