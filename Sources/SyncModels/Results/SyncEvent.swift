/// Something that happened during a sync, told to observers as it happens.
public enum SyncEvent: Sendable {
  /// A sync began.
  case started(fence: Int64)
  /// The pass over a type began, or goes on where it was interrupted.
  case entityStarted(RecordType, coverage: RecordPage.Coverage, isResumed: Bool)
  /// A page is in the store; readers see it.
  case pageCommitted(PageReport)
  /// A request failed and is made again after a pause.
  case retrying(RecordType, attempt: Int, after: Duration, error: SyncError)
  /// The remote's token is void and everything is listed anew.
  case reset(RecordType, ResetReason)
  /// Bytes were set aside because they are no record.
  case quarantined(MalformedRecord)
  /// The app edited records; readers see it, and the remote will be told.
  case edited(ChangedRecords)
  /// A clean-up hid records; readers no longer see them, and the remote is not told.
  case hidden(ChangedRecords)
  /// An edit met another one, and this is how it was settled; the app's own test says whether it matters to a person.
  case conflict(Conflict, isSignificant: Bool)
  /// What a merge policy made of two edits cannot stand, for this reason; the remote's copy stands, and the log of conflicts has both.
  case policyFailed(RecordID, reason: String)
  /// A remote stamp is so far ahead of the local clock that it was not believed.
  case clockAhead(RecordID, by: Duration)
  /// The remote refused an edit for good; it stays in the outbox with the reason.
  case editRefused(RecordID, reason: String)
  /// The remote has no room; so many edits stay in the outbox.
  case remoteStorageFull(pending: Int)
  /// The edits that were waiting have been sent, as far as possible.
  case pushFinished(PushCounts)
  /// A sweep was not carried out.
  case sweepRefused(RecordType, Checkpoint.Refusal)
  /// The pass over a type is complete.
  case entityFinished(RecordType, SyncCounts)
  /// A type's own pass failed; the other types go on.
  case entityFailed(RecordType, SyncError)
  /// A stored record's payload does not decode as the Swift type it was asked for; it was left out of the answer.
  case undecodable(RecordID, reason: String)
  /// The sync ended, complete or cancelled.
  case finished(SyncResult)
  /// The sync failed as a whole.
  case failed(SyncError)
  /// An observer was too slow, and so many events were dropped before this one.
  case lost(Int)

  /// What a committed page did.
  public struct PageReport: Sendable {
    /// The page's type.
    public var type: RecordType
    /// What became of the changes committed with it, this page alone.
    public var counts: SyncCounts
    /// The records that readers now see otherwise than before.
    public var changed: ChangedRecords
    /// How many changes of the pass are committed.
    public var fetched: Int
    /// How many changes the pass will have in all, where the remote says so.
    public var total: Int?
    /// How long this sync has been at the type, by the injected clock.
    public var elapsed: Duration
    /// How many changes of the type this sync has committed; fewer than ``fetched`` in a pass that was resumed.
    public var fetchedInSync: Int

    /// How much of the pass is done, 0 to 1, where the remote tells a total.
    public var fraction: Double? {
      guard let total else { return nil }
      return total > 0 ? min(1, Double(fetched) / Double(total)) : 1
    }

    /// How fast the type's changes have come in this sync; `nil` before any time has passed.
    public var changesPerSecond: Double? {
      elapsed > .zero ? Double(fetchedInSync) / elapsed.inSeconds : nil
    }

    /// Describes a committed page.
    public init(
      type: RecordType, counts: SyncCounts, changed: ChangedRecords, fetched: Int, total: Int?,
      elapsed: Duration = .zero, fetchedInSync: Int = 0
    ) {
      self.type = type
      self.counts = counts
      self.changed = changed
      self.fetched = fetched
      self.total = total
      self.elapsed = elapsed
      self.fetchedInSync = fetchedInSync
    }
  }

  /// The records that a transaction changed, as far as it is sensible to list them.
  public enum ChangedRecords: Hashable, Sendable {
    /// These, in no particular order.
    case some([RecordID])
    /// So many, more than 10,000, that whoever shows any had better read anew.
    case many

    /// Whether nothing was changed.
    public var isEmpty: Bool { self == .some([]) }

    /// Adds a record.
    package mutating func insert(_ id: RecordID) {
      guard case .some(var ids) = self else { return }
      self = .many
      if ids.count < 10_000 {
        ids.append(id)
        self = .some(ids)
      }
    }
  }
}
