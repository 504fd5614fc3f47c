public import SyncModels

/// What one sync is asked to do.
public struct SyncRequest: Sendable {
  /// The types to sync; `nil` for all.
  public var types: [RecordType]?
  /// Those of them that are listed completely, whatever their tokens say.
  public var completely: Set<RecordType>
  /// Whether sweeps may remove as much as they find missing.
  public var allowsMassDeletion: Bool
  /// The types that go first, the most urgent one first, each with those that it refers to; the others wait until these are through.
  public var priority: [RecordType]
  /// Which way records go.
  public var direction: Direction
  /// What to do while another sync is running in this process.
  public var ifBusy: Busy

  /// Asks for a sync of everything that changed, here and there.
  public init(
    types: [RecordType]? = nil, completely: Set<RecordType> = [], allowsMassDeletion: Bool = false,
    priority: [RecordType] = [], direction: Direction = .both, ifBusy: Busy = .refuse
  ) {
    self.types = types
    self.completely = completely
    self.allowsMassDeletion = allowsMassDeletion
    self.priority = priority
    self.direction = direction
    self.ifBusy = ifBusy
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
  public enum Busy: Hashable, Sendable {
    /// `syncAlreadyInProgress`, at once.
    case refuse
    /// The running sync's result; if that one's caller gives up, this one goes on in its place.
    case join
  }
}
