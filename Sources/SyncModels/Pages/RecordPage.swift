/// One page of remote changes, and its continuation.
public struct RecordPage: Hashable, Sendable {
  /// The coverage of the whole pass. The first page's value counts.
  public var coverage: Coverage
  /// The changes, in the remote's order. A page may be short, or empty, without being the last.
  public var changes: [RecordChange]
  /// The records that the page lists without their contents, in a pass that covers everything.
  ///
  /// The engine takes the contents from the store, and looks up those that the store lacks or has
  /// in an older version. Only a source that declares `supportsLookup` lists records so. If the
  /// remote refuses lookups, those of a listing of one instant are quarantined, others left out.
  public var present: [PresentRecord] = []
  /// The number of ``changes`` that the engine added for ``present``.
  package var contents = 0
  /// The records for which the engine took its own copies, before the pages ahead were committed.
  package var ownCopies: Set<RecordID> = []
  /// The number of listed records that the app's filter left out of ``changes``.
  package var leftOut = 0
  /// Whether another list begins after the page, so that an empty page is no sign of a pass without end.
  package var endsList = false
  /// On the first page, the token of the next delta.
  ///
  /// The source takes it *before* it lists anything. `nil` if the source ends a pass with its own
  /// token.
  public var startToken: SyncToken?
  /// The number of changes that the pass will list in all, if known. Used for progress alone.
  public var total: Int?
  /// The page's continuation.
  public var next: Continuation

  /// The number of records that the remote listed, with or without their contents.
  package var listed: Int { changes.count + leftOut - contents + present.count }

  /// Creates a page.
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

  /// The coverage of a pass.
  public enum Coverage: String, Hashable, Sendable {
    /// The changes since the token of the request.
    case delta
    /// Every record that the remote has. Records that the pass does not list are gone.
    case full
  }

  /// The continuation of a page.
  public enum Continuation: Hashable, Sendable {
    /// Another page. A resumable token stays valid for a process that starts tomorrow.
    case more(PageToken, resumable: Bool)
    /// The end: the pass is complete. Without a token of its own, the first page's
    /// ``RecordPage/startToken`` is committed.
    case done(SyncToken?)
    /// A restart: the token is no longer valid. The page's changes are ignored.
    ///
    /// The pass starts over, for most reasons with a full listing.
    case reset(ResetReason)
  }
}

/// A record that exists at the remote, listed without its content.
public struct PresentRecord: Hashable, Sendable {
  /// The record.
  public var id: RecordID
  /// The version of its current copy.
  public var version: Version

  /// Creates an entry of a listing.
  public init(id: RecordID, version: Version) {
    self.id = id
    self.version = version
  }
}

/// Why a pass starts over.
public enum ResetReason: String, Hashable, Sendable {
  /// The remote no longer knows the token. Its versions still count.
  case tokenExpired
  /// The remote no longer knows the page token. The pass starts over from its start token.
  case pageTokenExpired
  /// The remote was wiped, restored or replaced. Its versions start over, and its current listing
  /// is authoritative.
  case remoteReplaced
  /// The listed content changed during the listing. The pass starts over.
  case contentChanged
  /// The remote shows another part of its records than before, as when rights have changed.
  ///
  /// What the complete listing lacks is removed without a confirmation.
  case selectionChanged
}
