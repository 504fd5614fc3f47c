import Dispatch
import Foundation
import SyncPorts
import Synchronization

/// Probes a TCP port of a host.
final class TCPProbe: Sendable {
  private let host: String
  private let port: UInt16
  private let clock: any Clock<Duration>
  /// A name lookup blocks. At most one thread waits for it, and none of Swift's own.
  private let lookups = DispatchQueue(label: "name lookup", qos: .utility)

  init(host: String, port: UInt16, clock: any Clock<Duration> = ContinuousClock()) {
    self.host = host
    self.port = port
    self.clock = clock
  }

  /// Whether any of the host's addresses accepts a connection before the task is cancelled.
  func answers() async -> Bool {
    await Self.isAnswered(at: await addresses(), clock)
  }

  /// The time after which the next address is tried beside the former ones.
  ///
  /// It is the delay that RFC 8305 (Happy Eyeballs) recommends.
  private static let head = Duration.milliseconds(250)

  /// Tries addresses, each a little later than the one before.
  ///
  /// Not one after the other: a host may have an address that answers behind one whose packets are
  /// dropped on the way, often that of IPv6.
  static func isAnswered(at addresses: [SocketAddress], _ clock: any Clock<Duration>) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      for (position, address) in addresses.enumerated() {
        group.addTask {
          if position > 0 {
            guard (try? await clock.pause(for: head * position)) != nil else { return false }
          }
          return await ConnectionAttempt(at: address).isAnswered()
        }
      }
      for await isAnswered in group where isAnswered {
        group.cancelAll()
        return true
      }
      return false
    }
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
