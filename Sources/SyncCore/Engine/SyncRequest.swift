public import SyncModels

/// What one sync is asked to do.
public struct SyncRequest: Sendable {
  /// The types to sync; `nil` for all.
  public var types: [RecordType]?
  /// Those of them that are listed completely, whatever their tokens say.
  public var fullPull: Set<RecordType>
  /// Whether sweeps may remove as much as they find missing.
  public var allowsMassDeletion: Bool
  /// The types that go first, the most urgent one first, each with those that it refers to; the others wait until these are through.
  public var priority: [RecordType]
  /// Which way records go.
  public var direction: Direction
  /// What to do while another sync is running.
  public var ifBusy: Busy
  /// How long a call that joins or follows waits at most for another process that syncs the store.
  ///
  /// Then it throws `syncAlreadyInProgress`. ``Busy/refuse`` never waits.
  public var patience: Duration

  /// Asks for a sync of everything that changed, here and there.
  public init(
    types: [RecordType]? = nil, fullPull: Set<RecordType> = [], allowsMassDeletion: Bool = false,
    priority: [RecordType] = [], direction: Direction = .both, ifBusy: Busy = .refuse,
    patience: Duration = .seconds(600)
  ) {
    self.types = types
    self.fullPull = fullPull
    self.allowsMassDeletion = allowsMassDeletion
    self.priority = priority
    self.direction = direction
    self.ifBusy = ifBusy
    self.patience = patience
  }

  /// Which way records go.
  public enum Direction: Hashable, Sendable {
    /// Local edits to the remote, if there is a sink for them; then what changed there to the store.
    case both
    /// From the remote to the store alone; local edits stay in the outbox.
    case pull
    /// To the remote alone.
    case push
  }

  /// What a second caller gets.
  ///
  /// Calls that wait share one sync as far as the request of one of them covers those of the others: its types, its
  /// direction, what is listed completely, and whether mass deletions are allowed.
  public enum Busy: Hashable, Sendable {
    /// `syncAlreadyInProgress`, at once.
    case refuse
    /// The running sync's result if that one does all that is asked for; otherwise a sync of its own after it.
    ///
    /// What changed here or at the remote since the running sync began may be left for the next one. If the running
    /// sync is stopped, this one goes on in its place. A sync of another process is waited for, for ``SyncRequest/patience``;
    /// then this one runs.
    case join
    /// A sync that begins after the call: at once, or after the running one, of this process or of another.
    ///
    /// It sends every edit made before the call, and sees every change that the remote had by then.
    case follow
  }
}
