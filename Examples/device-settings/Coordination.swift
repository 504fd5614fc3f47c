import CanonicalSync
import InMemoryAdapters
import ToolSupport

/// A device's coordinator at work, and what it does, as the story waits for it.
struct Coordination: Sendable {
  private let coordinator: SyncCoordinator
  private let turn: Turn

  init(of device: Device) {
    let (events, feed) = AsyncStream.makeStream(of: SyncCoordinator.Event.self)
    coordinator = SyncCoordinator(
      engine: device.engine, options: Turn.options, observe: { feed.yield($0) })
    turn = Turn(events: events)
  }

  /// Runs the coordinator for as long as a body lasts.
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

  /// Waits for what the coordinator does.
  struct Turn: Sendable {
    fileprivate static let options = SyncCoordinator.Options()
    fileprivate let events: AsyncStream<SyncCoordinator.Event>

    /// Returns when it has noticed that the network came or went.
    func networkChange() async {
      _ = await events.first { if case .network = $0 { true } else { false } }
    }

    /// Returns when the network has stayed for as long as it takes to be trusted.
    func settling(on clock: ManualClock) async {
      while await clock.nextSleep() != Self.options.settleTime {}
      clock.advance(by: Self.options.settleTime)
    }

    /// Returns when it has synced, with how that ended.
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
