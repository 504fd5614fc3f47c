import SyncModels
import SyncPorts
import Synchronization

/// A scheduler under check, and the work that it began.
final class SchedulerBench: Sendable {
  typealias Kind = BackgroundRequest.Kind
  typealias Work = @Sendable (Kind, any CancellationToken) async throws -> Void

  /// Work that has begun.
  struct Begun: Sendable {
    var kind: Kind
    var at: Timestamp
    var isOver = false
  }

  let harness: SchedulerHarness
  private let state = Mutex<[Begun]>([])
  private let failure = Mutex<(any Error)?>(nil)

  init(_ harness: SchedulerHarness) {
    self.harness = harness
  }

  var begun: [Begun] { state.withLock { $0 } }

  @discardableResult
  func submit(
    _ kind: Kind, after delay: Duration, needsNetwork: Bool = false, needsExternalPower: Bool = false
  ) throws -> Timestamp {
    try harness.scheduler.submit(
      BackgroundRequest(
        kind, earliest: .after(delay), needsNetwork: needsNetwork, needsExternalPower: needsExternalPower))
  }

  /// Runs the scheduler during a body, then cancels it and waits for its end.
  func running(work: @escaping Work = { _, _ in }, _ body: @Sendable () async throws -> Void) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        await self.harness.scheduler.run { kind, token in
          let index = self.state.withLock { begun in
            begun.append(Begun(kind: kind, at: self.harness.now()))
            return begun.count - 1
          }
          defer { self.state.withLock { $0[index].isOver = true } }
          do {
            try await work(kind, token)
            return .succeeded
          } catch {
            self.failure.withLock { $0 = error }
            return .failed
          }
        }
      }
      defer { group.cancelAll() }
      try await body()
    }
    if let error = failure.withLock({ $0 }) { throw error }
  }

  /// Advances the time until a condition holds.
  func pass(until isSo: @Sendable () -> Bool, _ sentence: String) async throws {
    let harness = harness
    let hasCome = await Patience.lasts(until: isSo) { harness.pass(.seconds(10)) }
    try expect(hasCome, "\(sentence) It did not happen.")
  }
}
