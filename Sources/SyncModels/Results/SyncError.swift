/// The failure of one sync operation.
///
/// A caller may branch on ``code``: it tells what to do next, not what went wrong inside. Record
/// contents, secrets and SQL stay out of ``description``, which ends up in logs.
public struct SyncError: Error, Sendable {
  /// The code that a caller may branch on.
  public var code: Code
  /// The operation that failed, as in `fetching a page of games`.
  public var operation: String
  /// The problem, its place and its remedy, in a sentence or two for a person.
  public var message: String
  /// The pause that the remote asked for, if it did.
  public var retryAfter: Duration?
  /// The underlying error, for a debugger.
  public var underlying: (any Error)?

  /// Creates an error.
  public init(
    _ code: Code, during operation: String, _ message: String = "", retryAfter: Duration? = nil,
    underlying: (any Error)? = nil
  ) {
    self.code = code
    self.operation = operation
    self.message = message
    self.retryAfter = retryAfter
    self.underlying = underlying
  }
}

extension SyncError: CustomStringConvertible {
  /// The message, the operation and the code, fit for a log.
  public var description: String {
    message.isEmpty ? "\(code) while \(operation)" : "\(message) (\(code) while \(operation))"
  }
}

extension SyncError {
  /// The kind of a failure, by what a caller may do about it.
  ///
  /// New codes may be added: keep a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case remoteUnavailable, offline, syncAlreadyInProgress, leaseLost, quotaExceeded, authentication
      case untrustedServer, permissionDenied, tokenExpired, invalidResponse, inconsistentData
      case invalidConfiguration, invalidEdit, changedMeanwhile, otherAccount, batchTooLarge, pullIncomplete
      case declarationsReplaced
      case storeFailure, storeBusy, storeFull, storeReadOnly, storeNewer, storeUnreadable, cancelled
      case undecodable
    }
    private let name: Name

    /// The code's stable name, for logs and for counters.
    public var description: String { name.rawValue }

    /// The remote did not answer, or asked for a pause. Local data stays usable; try later.
    public static let remoteUnavailable = Code(name: .remoteUnavailable)
    /// The network is known to be unavailable. Nothing was tried; try when it is back.
    public static let offline = Code(name: .offline)
    /// Another sync is running, in this process or another one. Nothing was done.
    public static let syncAlreadyInProgress = Code(name: .syncAlreadyInProgress)
    /// Another process took over the lease. Nothing was written after that.
    public static let leaseLost = Code(name: .leaseLost)
    /// The remote's quota is used up for this operation.
    public static let quotaExceeded = Code(name: .quotaExceeded)
    /// The remote rejects the credentials. New ones are needed.
    public static let authentication = Code(name: .authentication)
    /// The remote's identity could not be verified, for example by a trusted certificate.
    ///
    /// Nothing was sent. A person has to look.
    public static let untrustedServer = Code(name: .untrustedServer)
    /// The remote accepts the credentials and refuses the request.
    ///
    /// The rights or the address have to change.
    public static let permissionDenied = Code(name: .permissionDenied)
    /// The remote no longer knows the token. A full pass follows by itself.
    public static let tokenExpired = Code(name: .tokenExpired)
    /// The remote's answer violates the protocol. The same request may get a better answer.
    public static let invalidResponse = Code(name: .invalidResponse)
    /// The data contradict each other, and a retry does not help.
    public static let inconsistentData = Code(name: .inconsistentData)
    /// A declaration, an option or a call is wrong. The program has to change.
    public static let invalidConfiguration = Code(name: .invalidConfiguration)
    /// A local edit is invalid, such as one that refers to a missing record.
    ///
    /// Nothing was written.
    public static let invalidEdit = Code(name: .invalidEdit)
    /// The edit demands a record as it was read, and the record has changed since.
    ///
    /// Nothing was written. Read the record again.
    public static let changedMeanwhile = Code(name: .changedMeanwhile)
    /// The store belongs to another account. Nothing was done.
    ///
    /// Make the store forget that account, or use another store.
    public static let otherAccount = Code(name: .otherAccount)
    /// The operation needs everything that the remote has, and no pull has been completed.
    ///
    /// Nothing was done. Sync, and call again.
    public static let pullIncomplete = Code(name: .pullIncomplete)
    /// Another version of the app has registered other declarations with the store since.
    ///
    /// Nothing was done. Reads and edits go on; a new engine, as after a restart, syncs again.
    public static let declarationsReplaced = Code(name: .declarationsReplaced)
    /// The batch is too large for the remote. Nothing was applied; a smaller one may be.
    public static let batchTooLarge = Code(name: .batchTooLarge)
    /// The store failed. The whole transaction was rolled back.
    public static let storeFailure = Code(name: .storeFailure)
    /// Another writer held the store past the busy timeout. Nothing was written.
    public static let storeBusy = Code(name: .storeBusy)
    /// The store has no room to grow. The whole transaction was rolled back.
    public static let storeFull = Code(name: .storeFull)
    /// The store can be read but not written.
    public static let storeReadOnly = Code(name: .storeReadOnly)
    /// The store was written by a newer version of the library. It was not touched.
    ///
    /// Another process may write it while it is open. Update the app.
    public static let storeNewer = Code(name: .storeNewer)
    /// The file is not a store, or is damaged. It was not touched.
    public static let storeUnreadable = Code(name: .storeUnreadable)
    /// A stored record does not decode as the requested Swift type. It stays as it is.
    public static let undecodable = Code(name: .undecodable)
    /// The operation was cancelled. Earlier commits stay.
    public static let cancelled = Code(name: .cancelled)

    /// Whether the same request may succeed after a pause.
    public var isRetryable: Bool {
      self == .remoteUnavailable || self == .invalidResponse
    }
  }
}
