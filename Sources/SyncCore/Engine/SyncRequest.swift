public import SyncModels

/// The request of one sync.
public struct SyncRequest: Sendable {
  /// The types to sync; `nil` for all, and an empty list for none.
  public var types: [RecordType]?
  /// Those of the types that are listed completely, ignoring their tokens.
  public var fullPull: Set<RecordType>
  /// Whether the versions of ``fullPull`` may start over, as after a restored backup.
  ///
  /// Versions seen before then hide no copies with smaller ones.
  public var versionsStartOver = false
  /// Whether sweeps may remove all that they find missing.
  public var allowsMassDeletion: Bool
  /// The types that go first, the most urgent one first.
  ///
  /// Each goes with the types that it refers to. The other types wait until these are done.
  public var priority: [RecordType]
  /// The direction in which records go.
  public var direction: Direction
  /// What to do while another sync is running.
  public var ifBusy: Busy
  /// The longest wait for another process that syncs the store.
  ///
  /// It applies to calls that join or follow, which then throw `syncAlreadyInProgress`.
  /// ``Busy/refuse`` never waits.
  public var patience: Duration
  /// What caused the sync, for the store's history.
  public var triggers: [SyncTrigger]

  /// Creates a request; by default a sync of everything that changed, here and there.
  public init(
    types: [RecordType]? = nil, fullPull: Set<RecordType> = [], allowsMassDeletion: Bool = false,
    priority: [RecordType] = [], direction: Direction = .both, ifBusy: Busy = .refuse,
    patience: Duration = .seconds(600), triggers: [SyncTrigger] = [.request]
  ) {
    self.types = types
    self.fullPull = fullPull
    self.allowsMassDeletion = allowsMassDeletion
    self.priority = priority
    self.direction = direction
    self.ifBusy = ifBusy
    self.patience = patience
    self.triggers = triggers
  }

  /// A direction in which records go.
  public enum Direction: Hashable, Sendable {
    /// Local edits to the remote, then remote changes to the store.
    ///
    /// Without a sink, local edits stay in the outbox.
    case both
    /// Only from the remote to the store; local edits stay in the outbox.
    case pull
    /// Only to the remote.
    case push
  }

  /// What a second caller gets.
  ///
  /// Waiting calls share one sync if the request of one of them covers those of the others: its
  /// types, its direction, the complete listings, and whether mass deletions are allowed.
  public enum Busy: Hashable, Sendable {
    /// The error `syncAlreadyInProgress`, at once.
    case refuse
    /// The running sync's result if that covers the request; otherwise a later sync.
    ///
    /// Changes made here or at the remote since the running sync began may be left for the next
    /// one. If the running sync is stopped, this one continues in its place. A sync of another
    /// process is awaited, for ``SyncRequest/patience``; then this one runs.
    case join
    /// A sync that begins after the call, at once or after the running one.
    ///
    /// The running sync may be of this process or of another. The new sync sends every edit made
    /// before the call, and sees every change that the remote had by then.
    case follow
  }
}
