import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters
import SyncAdapters

/// A device's running coordinator, with its events as the story awaits them.
struct Coordination: Sendable {
  private let coordinator: SyncCoordinator
  private let turn: Turn

  init(of device: Device) {
    let (events, feed) = AsyncStream.makeStream(of: SyncCoordinator.Event.self)
    coordinator = SyncCoordinator(
      engine: device.engine, options: Turn.options, observe: { feed.yield($0) })
    turn = Turn(events: events)
  }

  /// Runs the coordinator for the time of a body.
  func running<R: Sendable>(
    _ body: @Sendable (Turn) async throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    let (coordinator, turn) = (coordinator, turn)
    return try await withTaskGroup(of: Void.self) { group -> Result<R, SyncError> in
      group.addTask { await coordinator.run() }
      defer { group.cancelAll() }
      do throws(SyncError) {
        return .success(try await body(turn))
      } catch {
        return .failure(error)
      }
    }.get()
  }

  /// Waits for the coordinator's events.
  struct Turn: Sendable {
    /// The story tells of each sync by another trigger than its edits.
    fileprivate static let options = SyncCoordinator.Options(pushesEdits: false)
    fileprivate let events: AsyncStream<SyncCoordinator.Event>

    /// Returns when the coordinator has noticed a network change.
    func networkChange() async {
      _ = await events.first { if case .network = $0 { true } else { false } }
    }

    /// Returns when the network has been up long enough to count as stable.
    func settling(on clock: ManualClock) async {
      while await clock.nextSleep() != Self.options.settleTime {}
      clock.advance(by: Self.options.settleTime)
    }

    /// Returns the outcome of a sync when it has ended.
    func sync() async -> String {
      for await event in events {
        guard case .finished(_, let outcome) = event else { continue }
        return switch outcome {
        case .completed(let result):
          "\(Counted(result.pushed.accepted, "edit was", "edits were").grouped) accepted"
        case .stopped: "stopped"
        case .unavailable(let error), .failed(let error): error.code.description
        }
      }
      return "stopped"
    }
  }
}
