import Dispatch
import Foundation
import Synchronization

/// Probes a TCP port of a host.
final class TCPProbe: Sendable {
  private let host: String
  private let port: UInt16
  /// A name lookup blocks. At most one thread waits for it, and none of Swift's own.
  private let lookups = DispatchQueue(label: "name lookup", qos: .utility)

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Whether any of the host's addresses accepts a connection.
  ///
  /// They are tried one after the other, until the task is cancelled.
  func answers() async -> Bool {
    for address in await addresses() {
      if Task.isCancelled { return false }
      if await ConnectionAttempt(at: address).isAnswered() { return true }
    }
    return false
  }

  private func addresses() async -> [SocketAddress] {
    let (host, port) = (host, port)
    let answer = Answer<[SocketAddress]>(ifCancelled: [])
    return await answer.wait {
      self.lookups.async { answer.give(answer.isGiven ? [] : SocketAddress.lookUp(host, port)) }
    }
  }
}

/// One answer for one waiting task. The first answer given counts.
final class Answer<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var continuation: CheckedContinuation<Value, Never>?
  }
  private let state = Mutex(State())
  private let ifCancelled: Value

  /// Creates an answer, with the value for a wait that is cancelled.
  init(ifCancelled: Value) {
    self.ifCancelled = ifCancelled
  }

  var isGiven: Bool { state.withLock { $0.value != nil } }

  func give(_ value: Value) {
    let continuation = state.withLock { state -> CheckedContinuation<Value, Never>? in
      guard state.value == nil else { return nil }
      state.value = value
      return state.continuation.take()
    }
    continuation?.resume(returning: value)
  }

  /// Calls `start` and waits for the answer.
  func wait(_ start: () -> Void) async -> Value {
    start()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let known = state.withLock { state -> Value? in
          if state.value == nil { state.continuation = continuation }
          return state.value
        }
        if let known { continuation.resume(returning: known) }
      }
    } onCancel: {
      give(ifCancelled)
    }
  }
}
