import SyncModels
import SyncPorts

/// Waits for commits that a reader may have to read: this engine's events, and others' commits.
struct CommitWatch: Sendable {
  /// How often other connections' commits are looked for.
  static let interval = Duration.milliseconds(250)

  let store: any LocalStore
  let clock: any Clock<Duration>
  /// The engine's events; `nil` for a reader without an engine.
  let events: EventSequence.Subscription?

  /// The result of a wait.
  struct Awakening: Sendable {
    /// The engine's events since the last wait, oldest first.
    var events: [SyncEvent] = []
    /// Whether a commit without an event may have happened.
    var isByOthers = false
  }

  /// The mark of the store's commits; `nil` if the store has none, or has failed.
  ///
  /// A failure shows in the read that follows.
  func mark() async -> CommitMark? {
    guard let store = store as? any SharedStore else { return nil }
    return try? await store.commitMark()
  }

  /// Waits until there is an event, or others may have committed something.
  ///
  /// It also returns when the task is cancelled.
  ///
  /// - Parameters:
  ///   - mark: The mark before the reader's last read.
  ///   - ignoresOwn: Whether commits through the same store count by their events alone.
  func wait(after mark: CommitMark?, ignoresOwn: Bool) async -> Awakening {
    let isPolled = !ignoresOwn || store is any SharedStore
    return await withTaskGroup(of: Awakening.self) { group in
      if let events { group.addTask { Awakening(events: await events.buffer.next().map { [$0] } ?? []) } }
      if isPolled { group.addTask { await poll(after: mark, ignoresOwn: ignoresOwn) } }
      var awakening = await group.next() ?? Awakening()
      group.cancelAll()
      // An event may have been taken in the same moment. It must not be lost.
      for await other in group {
        awakening.events += other.events
      }
      awakening.events += events?.buffer.takeAll() ?? []
      return awakening
    }
  }

  private func poll(after mark: CommitMark?, ignoresOwn: Bool) async -> Awakening {
    while true {
      do {
        try await clock.pause(for: Self.interval, as: .observation)
      } catch {
        return Awakening()
      }
      guard let mark, let now = await self.mark() else { return Awakening(isByOthers: true) }
      if now.others != mark.others || (!ignoresOwn && now.own != mark.own) {
        return Awakening(isByOthers: true)
      }
    }
  }
}
