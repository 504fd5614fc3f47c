package import HTTPAdapters
import InMemoryAdapters
package import SyncModels
import Synchronization

/// Other clients of a remote: before each request, they make some of a number of changes.
package final class BusyTransport: HTTPTransport {
  /// A change of one record. Without a value, it is deleted.
  package typealias Change = (key: String, value: Int?)

  private struct State {
    var random: SplitMix64
    var rest: Int
    var keys: [String]
  }
  private let base: any HTTPTransport
  private let portion: Int
  private let deletes: Bool
  private let write: @Sendable ([Change]) async throws -> Void
  private let state: Mutex<State>

  /// Creates a transport to a remote that others change.
  ///
  /// - Parameters:
  ///   - keys: The records that are there. Others are added.
  ///   - changes: The number of changes in all.
  ///   - portion: The most changes before one request.
  ///   - deletes: Whether records are deleted too.
  ///   - write: Writes records at the remote.
  package init(
    _ base: any HTTPTransport, seed: UInt64, keys: [String], changes: Int, portion: Int, deletes: Bool = true,
    write: @escaping @Sendable ([Change]) async throws -> Void
  ) {
    self.base = base
    self.portion = portion
    self.deletes = deletes
    self.write = write
    state = Mutex(State(random: SplitMix64(seed: seed ^ 0xC4A2), rest: changes, keys: keys))
  }

  /// Whether all changes were made.
  package var isDone: Bool { state.withLock { $0.rest == 0 } }

  package func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    let changes = next()
    if !changes.isEmpty {
      do {
        try await write(changes)
      } catch {
        throw SyncError(.inconsistentData, during: "changing records", underlying: error)
      }
    }
    return try await base.send(request)
  }

  private func next() -> [Change] {
    state.withLock { state in
      let count = min(portion, state.rest)
      state.rest -= count
      return (0..<count).map { _ in
        let fate = Int.random(in: 0..<4, using: &state.random)
        if fate == 0 { state.keys.append("k\(state.keys.count)") }
        let place =
          fate == 0 ? state.keys.count - 1 : Int.random(in: 0..<state.keys.count, using: &state.random)
        let value = Int.random(in: 1...1_000_000, using: &state.random)
        return (state.keys[place], fate == 1 && deletes ? nil : value)
      }
    }
  }
}
