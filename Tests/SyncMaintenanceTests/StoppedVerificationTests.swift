import CanonicalSync
import InMemoryAdapters
import SyncAdapters
import SyncMaintenance
import Synchronization
import Testing

@Suite("A verification that is stopped", .timeLimit(.minutes(10)))
struct StoppedVerificationTests {
  @Test func beginsNoCheckAfterTheStop() async throws {
    let store = CountingStore()
    let token = CancellationSource()
    token.cancel()
    let error = await #expect(throws: SyncError.self) {
      try await StoreVerification(of: store).run(token: token)
    }
    #expect(error?.code == .cancelled && store.checks == 0)
  }

  /// A long check of the store's own format learns of the stop by its task.
  @Test func cancelsTheTaskOfACheck() async throws {
    let token = CancellationSource()
    let store = CountingStore { token.cancel() }
    let error = await #expect(throws: SyncError.self) {
      try await StoreVerification(of: store).run(token: token)
    }
    #expect(error?.code == .cancelled && store.checks == 1)
  }

  @Test func looksAtATokenOfTheAppByTheGivenClock() async throws {
    let (clock, token, store) = (ManualClock(), FlagToken(), CountingStore())
    let verification = Task { try await StoreVerification(of: store, clock: clock).run(token: token) }
    _ = await clock.nextSleep(.cancellation)
    token.isCancelled = true
    clock.advance(by: .milliseconds(100))
    await #expect(throws: SyncError.self) { try await verification.value }
    #expect(clock.sleepers == 0)
  }
}

/// A store that counts the checks of its own format.
private final class CountingStore: ForwardingStore, VerifiableStore {
  let base = InMemoryStore()
  private let count = Atomic(0)
  private let onCheck: @Sendable () -> Void

  init(onCheck: @escaping @Sendable () -> Void = {}) {
    self.onCheck = onCheck
  }

  var checks: Int { count.load(ordering: .relaxed) }

  func formatFindings(limit: Int, isQuick: Bool) async throws(SyncError) -> [StoreFinding] {
    count.add(1, ordering: .relaxed)
    onCheck()
    // Ends when its task is cancelled.
    while !Task.isCancelled { await Task.yield() }
    throw SyncError(.cancelled, during: "checking")
  }
}
