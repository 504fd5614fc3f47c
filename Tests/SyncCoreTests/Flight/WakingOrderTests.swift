import CanonicalSync
import CanonicalSyncTestExecutors
import InMemoryAdapters
import SyncAdapters
import Synchronization
import Testing

@testable import SyncPorts

/// Tasks that wait for one event resume in order of arrival.
///
/// A run can then be repeated. The order of a dictionary would differ between runs.
@Suite("Those who wait for the same", .timeLimit(.minutes(10)))
struct WakingOrderTests {
  private static let waiters = 24

  private final class Woken: Sendable {
    let numbers = Mutex<[Int]>([])
  }

  /// The order in which many waiting tasks resume.
  private func order(
    waiting wait: @escaping @Sendable (Int) async -> Void, thenWoken wake: @Sendable () -> Void
  ) async throws -> [Int] {
    try await OneThread.run {
      let woken = Woken()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<Self.waiters {
          group.addTask {
            await wait(number)
            woken.numbers.withLock { $0.append(number) }
          }
        }
        // On one thread, all of them wait before this task's next turn.
        for _ in 0..<10 { await Task.yield() }
        #expect(woken.numbers.withLock { $0.isEmpty })
        wake()
        try await group.waitForAll()
      }
      return woken.numbers.withLock { $0 }
    }
  }

  @Test func areWokenByACancellationInTheOrderInWhichTheyCame() async throws {
    let source = CancellationSource()
    let order = try await order { _ in
      await source.waitUntilCancelled()
    } thenWoken: {
      source.cancel()
    }
    #expect(order == Array(0..<Self.waiters))
  }

  @Test func hearOfANewValueInTheOrderInWhichTheyCame() async throws {
    let feed = ValueFeed(0)
    let order = try await order { _ in
      for await value in feed.stream() where value == 1 { break }
    } thenWoken: {
      feed.send(1)
    }
    #expect(order == Array(0..<Self.waiters))
  }

  @Test func areAnsweredByARemoteInTheOrderInWhichTheyCame() async throws {
    let remote = InMemoryRemote(configuration: .privateZone, clock: ManualClock())
    remote.behave(.hang, onNext: Self.waiters, of: "teams")
    let request = PageRequest(entity: Entity("teams"), position: .start(since: nil), limit: 1, pass: 1)
    let order = try await order { _ in
      _ = try? await remote.page(request)
    } thenWoken: {
      remote.releaseHanging()
    }
    #expect(order == Array(0..<Self.waiters))
  }

  @Test func shareASyncsResultInTheOrderInWhichTheyJoined() async throws {
    let world = try await World()
    world.remote.behave(.hang, on: 1)
    let order = try await order { number in
      _ = try? await world.engine.sync(SyncRequest(ifBusy: .join))
    } thenWoken: {
      world.remote.releaseHanging()
    }
    // The first one is the sync itself. It continues after it has resumed the others.
    #expect(order.filter { $0 > 0 } == Array(1..<Self.waiters))
  }
}
