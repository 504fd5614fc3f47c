import SyncModels
import Synchronization

/// Decides the fault of each call: random within the hazards, or at one call.
final class FaultPlan: Sendable {
  private struct State {
    var calls = 0
    var isCalm = false
  }
  private let state = Mutex(State())
  private let hazards: Set<Hazard>
  private let single: Recording.Fault?
  private let choices: Choices

  init(_ hazards: Set<Hazard>, single: Recording.Fault?, choices: Choices) {
    self.hazards = hazards
    self.single = single
    self.choices = choices
  }

  /// The number of calls before the faults ended.
  var calls: Int { state.withLock { $0.calls } }

  /// Ends all faults.
  func calmDown() { state.withLock { $0.isCalm = true } }

  /// The fault of the next call.
  func fault(of call: PortCall) -> Fault? {
    let number: Int? = state.withLock { state in
      guard !state.isCalm else { return nil }
      state.calls += 1
      return state.calls
    }
    guard let number else { return nil }
    if let single { return single.call == number ? single.kind.fault(of: call) : nil }
    if hazards.contains(.crashes), choices.once(in: 40) {
      return choices.pick(.killBefore, .killAfter)
    }
    if hazards.contains(.stoppedProcesses), choices.once(in: 60) { return .stop }
    return call.isOfStore ? storeFault(of: call) : sourceFault(of: call)
  }

  private func storeFault(of call: PortCall) -> Fault? {
    func error() -> SyncError {
      SyncError(choices.pick(.storeFailure, .storeBusy, .storeFull), during: "a \(call.rawValue)")
    }
    if hazards.contains(.failedStoreCalls), choices.once(in: 30) { return .failBefore(error()) }
    if hazards.contains(.lostAcknowledgements), choices.once(in: 30) { return .failAfter(error()) }
    if hazards.contains(.slowStore), choices.once(in: 25) {
      return .stall(choices.duration(.seconds(1)...(.seconds(45))))
    }
    return nil
  }

  private func sourceFault(of call: PortCall) -> Fault? {
    let operation = "a \(call.rawValue)"
    if hazards.contains(.failedRequests), choices.once(in: 12) {
      return .failBefore(
        SyncError(choices.pick(.remoteUnavailable, .invalidResponse), during: operation))
    }
    if hazards.contains(.lostAnswers), choices.once(in: 12) {
      return .failAfter(SyncError(.remoteUnavailable, during: operation))
    }
    if hazards.contains(.requestedPauses), choices.once(in: 15) {
      let pause = choices.duration(.seconds(1)...(.seconds(60)))
      return .failBefore(SyncError(.remoteUnavailable, during: operation, retryAfter: pause))
    }
    if hazards.contains(.refusals), choices.once(in: 30) {
      let code = choices.pick(
        SyncError.Code.quotaExceeded, .permissionDenied, .authentication, .tokenExpired)
      // A wiped or restored remote must report that. Otherwise its restarted numbers would count as old
      // ones.
      let isUnfair = code == .tokenExpired && !hazards.isDisjoint(with: [.restoredRemotes, .wipes])
      return .failBefore(SyncError(isUnfair ? .permissionDenied : code, during: operation))
    }
    if hazards.contains(.slowAnswers), choices.once(in: 12) {
      return .stall(choices.duration(.seconds(1)...(.seconds(120))))
    }
    return nil
  }
}
