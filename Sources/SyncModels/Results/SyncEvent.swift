/// An event of a sync, reported to observers as it happens.
public enum SyncEvent: Sendable {
  /// A sync began.
  case started(fence: Int64)
  /// The pass over a type began, or resumed after an interruption.
  case entityStarted(RecordType, coverage: RecordPage.Coverage, isResumed: Bool)
  /// A page was committed. Readers see it.
  case pageCommitted(PageReport)
  /// A request failed, and is made again after a pause.
  case retrying(RecordType, attempt: Int, after: Duration, error: SyncError)
  /// The remote's token is void. Everything is listed again.
  case reset(RecordType, ResetReason)
  /// A malformed record was withheld.
  case quarantined(MalformedRecord)
  /// The app edited records. Readers see the edits, and the next push sends them.
  case edited(ChangedRecords)
  /// The remote has given a new record a key of its own.
  ///
  /// The record, its edits and the references to it have that key now. Reads and edits by the former
  /// key find it.
  case moved(RecordID, to: RecordID)
  /// The app wrote a value that is kept beside a record. Only this store has it.
  case annotated(RecordID)
  /// The remote deleted a record to which others refer, and their references' rule was carried out.
  case targetDeleted(RecordID, rule: Reference.DeletionRule, referrers: [RecordID])
  /// A clean-up hid records. Readers no longer see them, and nothing is sent to the remote.
  case hidden(ChangedRecords)
  /// A merge conflict was resolved. The app's own test tells whether it matters to a person.
  case conflict(Conflict, isSignificant: Bool)
  /// A merge policy's result was invalid, for this reason.
  ///
  /// The remote's copy wins, and the conflict log has both.
  case policyFailed(RecordID, reason: String)
  /// The remote writes an immutable field of a record itself, and has not kept its earliest value.
  ///
  /// The remote's value stays. Declare the field as server-managed, or not as immutable.
  case immutableAssigned(RecordID)
  /// A remote stamp is too far ahead of the local clock, and was not followed.
  case clockAhead(RecordID, by: Duration)
  /// The remote refused an edit for good. It stays in the outbox with the reason.
  case editRefused(RecordID, reason: String)
  /// The remote's storage is full. This many edits stay in the outbox.
  case remoteStorageFull(pending: Int)
  /// The answers to some edits are stored: those of so many edits of the push, of so many in all.
  ///
  /// An edit that is sent again in the same push counts once.
  case pushCommitted(done: Int, total: Int)
  /// The push ended. Waiting edits were sent, as far as possible.
  case pushFinished(PushCounts)
  /// A sweep was not carried out.
  case sweepRefused(RecordType, SweepRefusal)
  /// The pass over a type is complete.
  case entityFinished(RecordType, SyncCounts)
  /// The pass over one type failed. The other types continue.
  case entityFailed(RecordType, SyncError)
  /// A stored record's payload did not decode as the requested Swift type.
  ///
  /// The record was left out of the answer.
  case undecodable(RecordID, reason: String)
  /// The sync ended, complete or cancelled.
  case finished(SyncResult)
  /// The sync failed as a whole. The result holds what it had committed until then.
  case failed(SyncError, SyncResult)
  /// This many events before this one were dropped, because the observer was too slow.
  case lost(Int)

  /// The effect of a committed page.
  public struct PageReport: Sendable {
    /// The page's type.
    public var type: RecordType
    /// The outcomes of the changes committed with this page alone.
    public var counts: SyncCounts
    /// The records that readers now see in another state.
    public var changed: ChangedRecords
    /// The number of changes of the pass that are committed.
    public var fetched: Int
    /// The number of changes that the pass will have in all, if known.
    public var total: Int?
    /// The time that this sync has spent on the type, by the injected clock.
    public var elapsed: Duration
    /// The number of changes of the type that this sync has committed.
    ///
    /// It is less than ``fetched`` in a resumed pass.
    public var fetchedInSync: Int

    /// The completed part of the pass, 0 to 1, if the remote reports a total.
    public var fraction: Double? {
      guard let total else { return nil }
      return total > 0 ? min(1, Double(fetched) / Double(total)) : 1
    }

    /// The rate of the type's changes in this sync; `nil` before any time has passed.
    public var changesPerSecond: Double? {
      elapsed > .zero ? Double(fetchedInSync) / elapsed.inSeconds : nil
    }

    /// Creates the report of a committed page.
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
}
