public import SyncModels
public import SyncPorts

/// How the checks get at a source and at the little world that it reads: empty at first, and changed by nobody else.
///
/// The world holds records of one type, `items`, each a key and a JSON object with a whole number as its member `value`. A harness serves
/// one check.
public struct SourceHarness: Sendable {
  /// The declaration of the type that the checks ask for.
  public static let entity = Entity("items", indexes: ["value"])

  /// The source to check.
  public var source: any RemoteRecordSource
  /// Writes a record, as another client of the remote would.
  public var upsert: @Sendable (_ key: String, _ value: Int) async throws -> Void
  /// Deletes a record, as another client of the remote would.
  public var delete: @Sendable (_ key: String) async throws -> Void
  /// Makes a second source over the same data, as another process does; `nil` where that cannot be done.
  public var reopen: (@Sendable () async throws -> any RemoteRecordSource)?
  /// Lets so much time pass at the remote that earlier changes are out of any overlap's reach; `nil` where that cannot be done.
  public var settle: (@Sendable () async throws -> Void)?
  /// Puts bytes among the records that are none; `nil` where that cannot be done.
  public var putMalformed: (@Sendable (_ bytes: [UInt8]) async throws -> Void)?
  /// Makes void every token that was given; `nil` where that cannot be done.
  public var voidTokens: (@Sendable () async throws -> Void)?
  /// Begins a write that becomes visible when the returned function is called; `nil` where that cannot be done.
  public var beginUpsert: (@Sendable (_ key: String, _ value: Int) async throws -> @Sendable () -> Void)?

  /// Describes how to get at a source; what cannot be done stays `nil`, and the checks that need it are skipped.
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
