/// One page of remote changes, and what follows it.
public struct RecordPage: Hashable, Sendable {
  /// What all pages of the pass hold together; the first page's word counts.
  public var coverage: Coverage
  /// The changes, in the remote's order. A page may be short, or empty, without being the last.
  public var changes: [RecordChange]
  /// On the first page: where the next delta would start, taken by the remote *before* it listed anything. `nil` where
  /// the source ends a pass with its own token.
  public var startToken: SyncToken?
  /// How many changes the pass will list in all, where the remote says so: for progress alone.
  public var total: Int?
  /// What follows.
  public var next: Continuation

  /// Describes a page.
  public init(
    coverage: Coverage, changes: [RecordChange], startToken: SyncToken? = nil, total: Int? = nil,
    next: Continuation
  ) {
    self.coverage = coverage
    self.changes = changes
    self.startToken = startToken
    self.total = total
    self.next = next
  }

  /// What the pages of a pass hold together.
  public enum Coverage: String, Hashable, Sendable, Codable {
    /// What changed since the token of the request.
    case changes
    /// Every record that the remote has: what the pass does not list is gone.
    case everything
  }

  /// What follows a page.
  public enum Continuation: Hashable, Sendable {
    /// Another page. A resumable one can still be asked for by a process that starts tomorrow.
    case more(PageToken, resumable: Bool)
    /// Nothing: the pass is complete. Without a token of its own the first page's ``RecordPage/startToken`` is committed.
    case done(SyncToken?)
    /// The token means nothing to the remote any more: the pass starts over, for most reasons with everything. The page's changes are ignored.
    case reset(ResetReason)
  }
}

/// Why a pass starts over.
public enum ResetReason: String, Hashable, Sendable, Codable {
  /// The remote forgot the token; its versions still count.
  case tokenExpired
  /// The remote forgot the continuation, and not the token: the pass starts over from where it started.
  case pageTokenExpired
  /// The remote was wiped, restored or replaced; its versions start over, and what it lists now is the truth.
  case remoteReplaced
  /// What is being listed changed under the listing; the pass starts over.
  case contentChanged
}
