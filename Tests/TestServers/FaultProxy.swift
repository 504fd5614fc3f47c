import CanonicalSyncListening
import Foundation
import InMemoryAdapters
import Synchronization

/// A proxy on loopback that spoils some of the answers, by a seed.
package final class FaultProxy: Sendable {
  /// A fault of one request.
  package enum Fault: CaseIterable, Sendable {
    /// The answer is late.
    case latency
    /// The connection breaks in the middle of the answer.
    case reset
    /// The server gets no request; the answer is 500.
    case failure
    /// The server gets no request; the answer is 503 with a Retry-After.
    case unavailable
    /// The server gets no request; the answer is 429 with a Retry-After.
    case tooMany
    /// The answer's JSON ends in the middle, and its length matches.
    case truncated
    /// The previous page is repeated.
    case repeated
    /// Half of the answer comes, and then nothing.
    case stall
  }

  /// A request and its fault.
  package struct Entry: Sendable {
    /// The method and the target.
    package var target: String
    /// The time of arrival.
    package var arrived: ContinuousClock.Instant
    /// The fault, if there was one.
    package var fault: Fault?
    /// The time of the refusal with a Retry-After, if there was one.
    package var refused: ContinuousClock.Instant?
  }

  private struct State {
    var generator: SplitMix64
    var isSpoiling = true
    var entries: [Entry] = []
    var pages: [String: HTTPText] = [:]
  }

  /// The address of the server's API through the proxy.
  package let address: String
  /// The Retry-After of refusals.
  package static let retryAfter = Duration.seconds(1)

  private let listener: LoopbackListener
  private let upstream: Int
  private let share: Double
  private let faults: [Fault]
  private let onStall: @Sendable () -> Void
  private let state: Mutex<State>

  /// The requests, in the order of arrival.
  package var entries: [Entry] { state.withLock { $0.entries } }

  /// Lets all further answers pass unchanged.
  package func stopSpoiling() { state.withLock { $0.isSpoiling = false } }

  /// Runs a body with a proxy before a server on this machine, and stops it.
  ///
  /// - Parameters:
  ///   - server: The address of the server's API.
  ///   - share: The share of spoilt requests, 0 to 1.
  ///   - spared: Faults that do not happen.
  ///   - onStall: Called when nothing more will come of an answer.
  package static func with(
    server: String, seed: UInt64, share: Double, sparing spared: Set<Fault> = [],
    onStall: @escaping @Sendable () -> Void = {},
    _ body: (FaultProxy) async throws -> Void
  ) async throws {
    let proxy = try FaultProxy(server: server, seed: seed, share: share, sparing: spared, onStall)
    proxy.listen()
    defer { proxy.listener.stop() }
    try await body(proxy)
  }

  private init(
    server: String, seed: UInt64, share: Double, sparing spared: Set<Fault>,
    _ onStall: @escaping @Sendable () -> Void
  ) throws {
    guard let url = URL(string: server), let port = url.port else {
      throw CocoaError(.fileReadInvalidFileName)
    }
    listener = try LoopbackListener()
    self.upstream = port
    self.share = share
    self.onStall = onStall
    faults = Fault.allCases.filter { !spared.contains($0) }
    address = "http://127.0.0.1:\(listener.port)\(url.path)"
    state = Mutex(State(generator: SplitMix64(seed: seed)))
  }

  private func listen() {
    listener.serve { [self] connection in
      guard let request = HTTPText(from: connection, endsWithConnection: false) else {
        return connection.close()
      }
      serve(request, connection)
    }
  }

  /// Answers one request, and ends the connection by its fault.
  private func serve(_ request: HTTPText, _ connection: StreamSocket) {
    let (index, fault) = state.withLock { state in
      var fault: Fault?
      if state.isSpoiling, Double.random(in: 0..<1, using: &state.generator) < share {
        fault = faults.randomElement(using: &state.generator)
      }
      state.entries.append(Entry(target: request.target, arrived: .now, fault: fault))
      return (state.entries.count - 1, fault)
    }
    switch fault {
    case .failure: connection.send(Self.refusal("500 Internal Server Error", []).bytes)
    case .unavailable, .tooMany:
      state.withLock { $0.entries[index].refused = .now }
      let status = fault == .tooMany ? "429 Too Many Requests" : "503 Service Unavailable"
      connection.send(Self.refusal(status, ["Retry-After: \(Self.retryAfter.components.seconds)"]).bytes)
    default:
      guard let answer = answer(to: request) else { break }
      return deliver(answer, to: request, fault, connection)
    }
    connection.close()
  }

  private static func refusal(_ status: String, _ headers: [String]) -> HTTPText {
    HTTPText("HTTP/1.1 \(status)", headers, body: Array("{\"errno\":201}".utf8))
  }

  private func deliver(
    _ answer: HTTPText, to request: HTTPText, _ fault: Fault?, _ connection: StreamSocket
  ) {
    let list = request.target.prefix { $0 != "?" }
    let isPage = request.target.hasPrefix("GET ")
    let before = state.withLock { state in
      defer { if isPage { state.pages[String(list)] = answer } }
      return state.pages[String(list)]
    }
    let half = Array(answer.bytes.prefix(answer.head.utf8.count + answer.body.count / 2))
    switch fault {
    case .latency:
      Thread.sleep(forTimeInterval: 0.05)
      connection.send(answer.bytes)
    case .reset:
      connection.send(half)
      return connection.reset()
    case .truncated where !request.target.hasPrefix("HEAD "):
      connection.send(answer.framed(Array(answer.body.prefix(answer.body.count / 2))).bytes)
    case .repeated where request.target.contains("_token="):
      connection.send((before ?? answer).bytes)
    case .stall:
      connection.send(half)
      // Until the client gives up. A deadline that it sets late begins after the first call.
      let hasEnded = Atomic(false)
      let stalling = Thread { [onStall] in
        while !hasEnded.load(ordering: .acquiring) {
          onStall()
          Thread.sleep(forTimeInterval: 1)
        }
      }
      stalling.start()
      while !connection.received().isEmpty {}
      hasEnded.store(true, ordering: .releasing)
    default:
      connection.send(answer.bytes)
    }
    connection.close()
  }

  /// The server's answer.
  private func answer(to request: HTTPText) -> HTTPText? {
    guard let server = try? StreamSocket.connected(to: upstream) else { return nil }
    defer { server.close() }
    let kept = request.framed(request.body)
    guard server.send(kept.bytes), let answer = HTTPText(from: server, endsWithConnection: true) else {
      return nil
    }
    // The answer to a HEAD keeps the length of the missing body.
    return request.target.hasPrefix("HEAD ") ? answer : answer.framed(answer.body)
  }
}
