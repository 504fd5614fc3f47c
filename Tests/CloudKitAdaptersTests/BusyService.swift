#if CloudKit && os(Linux)
  import CanonicalSyncTestServers
  import HTTPAdapters
  import InMemoryAdapters
  import SyncModels
  import Synchronization

  /// A service with other writers: before each request, they make some of a thousand changes.
  final class BusyService: HTTPTransport {
    private struct State {
      var random: SplitMix64
      var changes = 1000
      var keys: [String]
    }
    private let bench: CloudKitBench
    private let deletes: Bool
    private let write: @Sendable (_ key: String, _ value: Int) -> Void
    private let state: Mutex<State>

    /// Creates a busy service in front of another one.
    ///
    /// - Parameters:
    ///   - keys: The names of its records.
    ///   - deletes: Whether records are deleted too.
    ///   - write: Writes a record, new or not.
    init(
      _ bench: CloudKitBench, seed: UInt64, keys: [String], deletes: Bool,
      write: @escaping @Sendable (_ key: String, _ value: Int) -> Void
    ) {
      self.bench = bench
      self.deletes = deletes
      self.write = write
      state = Mutex(State(random: SplitMix64(seed: seed ^ 0xC4A2), keys: keys))
    }

    var isDone: Bool { state.withLock { $0.changes == 0 } }

    func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
      for _ in 0..<25 { change() }
      bench.clock.advance(by: .milliseconds(700))
      return try await bench.service.send(request)
    }

    private func change() {
      let action = state.withLock { state -> (key: String, value: Int?, pause: Int)? in
        guard state.changes > 0 else { return nil }
        state.changes -= 1
        let fate = Int.random(in: 0..<4, using: &state.random)
        if fate == 0 { state.keys.append("k\(state.keys.count)") }
        let place =
          fate == 0 ? state.keys.count - 1 : state.keys.indices.randomElement(using: &state.random) ?? 0
        let value = Int.random(in: 1...1_000_000, using: &state.random)
        let pause = Int.random(in: 0...300, using: &state.random)
        return (state.keys[place], fate == 1 && deletes ? nil : value, pause)
      }
      guard let action else { return }
      bench.clock.advance(by: .milliseconds(action.pause))
      if let value = action.value {
        write(action.key, value)
      } else {
        bench.service.delete([action.key], in: bench.place.database, zone: bench.place.zone)
      }
    }
  }
#endif
