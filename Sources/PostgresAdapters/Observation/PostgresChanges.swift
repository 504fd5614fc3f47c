#if Postgres
  public import SyncModels
  public import SyncPorts

  /// The records that commits change, by this server or another, as they happen.
  ///
  /// The first element has no records, and the position up to which they are known. To load without
  /// a gap, wait for it, load, and then read again what each later element names. Elements that a
  /// slow consumer has not taken become one. After a lost connection the sequence goes on with what
  /// was committed meanwhile, or asks to reload everything if that is more than the store keeps.
  /// On a standby, which sends no notifications, and behind a pooler that lends sessions to a
  /// ``PostgresPool``, elements come up to half a second later.
  ///
  /// It ends when its task is cancelled, or the store is closed. It also ends, with a ``failure``,
  /// if the server refuses what following needs, or does not answer before the first element within
  /// ``PostgresStore/Configuration/reconnectTimeout``.
  public struct PostgresChanges: AsyncSequence, Sendable {
    /// What changed.
    public typealias Element = CommittedChanges
    /// Nothing is thrown: a lost connection only delays elements, and ``failure`` tells of others.
    public typealias Failure = Never

    let store: FollowedStore

    /// Why the store's followers have ended, or what the present ones wait out.
    ///
    /// `nil` while they hear the server, and after the end of a task or of the store.
    public var failure: SyncError? { store.failure }

    /// Begins to follow the commits.
    public func makeAsyncIterator() -> Iterator {
      let follower = ChangeFollower()
      let number = store.add(follower)
      return Iterator(subscription: Subscription(follower: follower, store: store, number: number))
    }

    /// Follows the commits for one consumer.
    public struct Iterator: AsyncIteratorProtocol {
      fileprivate let subscription: Subscription

      /// Waits for the next change; `nil` at the end.
      public mutating func next() async -> CommittedChanges? { await subscription.follower.next() }

      /// Waits for the next change; `nil` at the end.
      public mutating func next(isolation: isolated (any Actor)?) async -> CommittedChanges? {
        await subscription.follower.next()
      }
    }

    /// Ends with the iterator.
    fileprivate final class Subscription: Sendable {
      let follower: ChangeFollower
      private let store: FollowedStore
      private let number: Int

      init(follower: ChangeFollower, store: FollowedStore, number: Int) {
        self.follower = follower
        self.store = store
        self.number = number
      }

      deinit { store.remove(number) }
    }
  }

  /// The changes that one consumer has not taken, as one element.
  final class ChangeFollower: Sendable {
    private struct State {
      var pending: CommittedChanges?
      var isOver = false
    }

    private let queue = WaitQueue<State, CommittedChanges?>(State())

    /// The most records of one element; more are a reason to reload.
    private static let maximumRecords = 10_000

    func give(_ changes: CommittedChanges) {
      queue.update { state, waiters in
        if waiters.deliverToFirst(changes) { return }
        state.pending = state.pending.map { Self.merged($0, changes) } ?? changes
      }
    }

    func end() {
      queue.update { state, waiters in
        state.isOver = true
        waiters.deliverToAll(nil)
      }
    }

    func next() async -> CommittedChanges? {
      let next = await queue.wait { state -> CommittedChanges?? in
        defer { state.pending = nil }
        return state.pending.map { .some($0) } ?? (state.isOver ? .some(nil) : nil)
      } leave: { state in
        state.isOver = true
      }
      return next ?? nil
    }

    private static func merged(_ a: CommittedChanges, _ b: CommittedChanges) -> CommittedChanges {
      guard case .records(let first) = a.scope, case .records(let second) = b.scope,
        first.count + second.count <= maximumRecords
      else { return CommittedChanges(.everything, through: b.position) }
      return CommittedChanges(.records(Set(first).union(second).sorted()), through: b.position)
    }
  }
#endif
