import CanonicalSync
import InMemoryAdapters
import Testing

@Suite("A fault at any call", .timeLimit(.minutes(10)))
struct FaultSweepTests {
  /// More calls than any of the syncs below makes, as a test checks.
  static let calls = 1...60

  @Test(arguments: FaultyStore.Moment.allCases, calls)
  func ofTheStoreIsHealedInAFirstSync(_ moment: FaultyStore.Moment, _ call: Int) async throws {
    let scenario = try Scenario()
    scenario.populate()
    try await fail(at: call, moment, in: scenario)
    let result = try await scenario.recover()
    #expect(result.isBalanced)
    #expect(try await scenario.audit.differences(from: scenario.remote) == [])
    #expect(scenario.audit.dangling == [])
  }

  @Test(arguments: FaultyStore.Moment.allCases, calls)
  func ofTheStoreIsHealedInADelta(_ moment: FaultyStore.Moment, _ call: Int) async throws {
    let scenario = try Scenario()
    scenario.populate()
    _ = try await scenario.recover()
    scenario.stir()
    try await fail(at: call, moment, in: scenario)
    let result = try await scenario.recover()
    #expect(result.isBalanced)
    #expect(try await scenario.audit.differences(from: scenario.remote, malformed: scenario.malformed) == [])
    #expect(scenario.audit.dangling == [])
  }

  @Test func isSweptOverEveryCallThatASyncMakes() async throws {
    let scenario = try Scenario()
    scenario.populate()
    let first = FaultyStore(scenario.store)
    _ = try await scenario.engine(on: first).sync()
    scenario.stir()
    let second = FaultyStore(scenario.store)
    _ = try await scenario.engine(on: second).sync()
    #expect(Self.calls.contains(first.callCount))
    #expect(Self.calls.contains(second.callCount))
    #expect(min(first.callCount, second.callCount) > 15)
  }

  @Test(arguments: failures, 1...14)
  func ofTheRemoteIsHealed(_ failure: SyncError.Code, _ request: Int) async throws {
    let scenario = try Scenario()
    scenario.populate()
    scenario.remote.behave(.fail(SyncError(failure, during: "fetching")), on: request)
    let store = FaultyStore(scenario.store) { scenario.audit.lookForDanglingReferences() }
    do throws(SyncError) {
      let result = try await scenario.engine(on: store).sync()
      #expect(result.isBalanced)
      #expect(result.failures.map(\.error.code).allSatisfy { $0 == failure })
    } catch {
      #expect(error.code == failure)
    }
    scenario.remote.behaveWell()
    _ = try await scenario.recover()
    #expect(try await scenario.audit.differences(from: scenario.remote) == [])
    #expect(scenario.audit.dangling == [])
  }

  static let failures: [SyncError.Code] = [
    .remoteUnavailable, .authentication, .quotaExceeded, .invalidResponse, .permissionDenied, .tokenExpired,
  ]

  private func fail(at call: Int, _ moment: FaultyStore.Moment, in scenario: Scenario) async throws {
    let store = FaultyStore(scenario.store, failingCall: call, moment) {
      scenario.audit.lookForDanglingReferences()
    }
    do throws(SyncError) {
      let result = try await scenario.engine(on: store).sync()
      #expect(result.isBalanced)
    } catch {
      #expect(error.code == .storeFailure)
    }
  }
}
