public import SyncModels

/// A store whose data other connections or processes may change.
///
/// For implementers: conforming is optional. It lets observers hear of other processes' commits at
/// little cost. Observers of a store without it read ``StoreSnapshot/changes(after:)`` each time.
/// A store that hears of commits implements ``waitForCommit(after:)`` too.
public protocol SharedStore: LocalStore {
  /// Returns a mark of the commits so far, without reading data.
  ///
  /// Observers ask for it several times a second, as long as a query is observed, unless
  /// ``waitForCommit(after:)`` tells them.
  func commitMark() async throws(SyncError) -> CommitMark

  /// Waits until the store hears of a commit after a mark, without asking for one.
  ///
  /// A store that hears of none need not implement it.
  ///
  /// - Parameter mark: The mark, of this store. A commit between the mark and the call ends the wait
  ///   too.
  /// - Returns: `true` after such a commit, or what may be one; `false` at once if the store hears
  ///   of none, when it no longer does, and when the task is cancelled.
  func waitForCommit(after mark: CommitMark) async -> Bool
}

extension SharedStore {
  /// Returns `false`: the store hears of no commits.
  public func waitForCommit(after mark: CommitMark) async -> Bool { false }
}

/// A mark of a store's commits, which differs after a commit that readers see.
///
/// A commit that readers see is one with a ``StorePosition``. Others may change a mark too. Without
/// commits, the mark stays.
public struct CommitMark: Hashable, Sendable {
  /// A number that changes with the visible commits made through this object.
  public var own: Int64
  /// A number that changes with the visible commits of other connections and processes.
  public var others: Int64

  /// Creates a mark.
  public init(own: Int64, others: Int64) {
    self.own = own
    self.others = others
  }
}
