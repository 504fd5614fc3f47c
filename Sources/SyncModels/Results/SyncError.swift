/// The failure of one sync operation.
///
/// ``code`` is what a caller may branch on: it says what to do next, not what went wrong inside. Record contents,
/// secrets and SQL stay out of ``description``, which ends up in logs.
public struct SyncError: Error, Sendable {
  /// What a caller may branch on.
  public var code: Code
  /// What was being done, as in `fetching a page of games`.
  public var operation: String
  /// What was wrong, where, and what to do about it; a sentence or two for a person.
  public var message: String
  /// How long the remote asked to be left alone, where it said so.
  public var retryAfter: Duration?
  /// The driver's own words, for a debugger.
  public var underlying: (any Error)?

  /// Describes a failure.
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
  /// What a caller may do about a failure. New codes may be added; keep a `default`.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    private enum Name: String {
      case remoteUnavailable, offline, syncAlreadyInProgress, leaseLost, quotaExceeded, authentication
      case untrustedServer, permissionDenied, tokenExpired, invalidResponse, inconsistentData
      case invalidConfiguration, invalidEdit, batchTooLarge, pullIncomplete
      case storeFailure, storeBusy, storeFull, storeReadOnly, storeNewer, storeUnreadable, cancelled
    }
    private let name: Name

    /// The code's stable name, for logs and for counters.
    public var description: String { name.rawValue }

    /// The remote did not answer, or asked for a pause: local data goes on being used; try later.
    public static let remoteUnavailable = Code(name: .remoteUnavailable)
    /// The network is known to be away: nothing was tried; try when it is back.
    public static let offline = Code(name: .offline)
    /// Another sync is running, in this process or another one: nothing was done.
    public static let syncAlreadyInProgress = Code(name: .syncAlreadyInProgress)
    /// Another process took the lease over meanwhile: nothing was written after that.
    public static let leaseLost = Code(name: .leaseLost)
    /// The remote's quota is used up for this operation.
    public static let quotaExceeded = Code(name: .quotaExceeded)
    /// The remote does not accept who we say we are: new credentials are needed.
    public static let authentication = Code(name: .authentication)
    /// The remote could not prove who it is, as by a trusted certificate: nothing was sent; a person has to look.
    public static let untrustedServer = Code(name: .untrustedServer)
    /// The remote knows us and refuses this: the rights, or the address, have to change.
    public static let permissionDenied = Code(name: .permissionDenied)
    /// The remote no longer knows the token: a full pass follows by itself.
    public static let tokenExpired = Code(name: .tokenExpired)
    /// The remote's answer breaks the protocol; the same request may meet a better answer.
    public static let invalidResponse = Code(name: .invalidResponse)
    /// Data contradict each other in a way that trying again does not cure.
    public static let inconsistentData = Code(name: .inconsistentData)
    /// The declaration, an option or a call is wrong: the program has to be changed.
    public static let invalidConfiguration = Code(name: .invalidConfiguration)
    /// A local edit cannot stand, such as one that refers to a record that is not there; nothing was written.
    public static let invalidEdit = Code(name: .invalidEdit)
    /// What was asked for needs everything that the remote has, and no pull has been completed: sync, and ask again. Nothing was done.
    public static let pullIncomplete = Code(name: .pullIncomplete)
    /// The remote does not take so much at once: nothing was applied, and less may be.
    public static let batchTooLarge = Code(name: .batchTooLarge)
    /// The store failed; the transaction was rolled back whole.
    public static let storeFailure = Code(name: .storeFailure)
    /// Another writer kept the store past the busy timeout; nothing was written.
    public static let storeBusy = Code(name: .storeBusy)
    /// There is no room for the store to grow; the transaction was rolled back whole.
    public static let storeFull = Code(name: .storeFull)
    /// The store can be read and not written.
    public static let storeReadOnly = Code(name: .storeReadOnly)
    /// The store was written by a newer version of the library; it was not touched.
    public static let storeNewer = Code(name: .storeNewer)
    /// The file is not a store, or is damaged; it was not touched.
    public static let storeUnreadable = Code(name: .storeUnreadable)
    /// The operation was cancelled; what was committed before stays.
    public static let cancelled = Code(name: .cancelled)

    /// Whether the same request may succeed if it is simply made again after a pause.
    public var isRetryable: Bool {
      self == .remoteUnavailable || self == .invalidResponse
    }
  }
}
