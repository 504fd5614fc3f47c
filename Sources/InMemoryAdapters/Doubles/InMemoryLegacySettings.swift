public import SyncModels
public import SyncPorts
import Synchronization

/// Legacy settings in memory, for tests and for apps that read theirs themselves.
public final class InMemoryLegacySettings: LegacySettings {
  private struct State {
    var dictionaries: [String: [String: [UInt8]]]
    var reads = 0
    var failure: SyncError?
  }

  private let state: Mutex<State>

  /// Creates settings from JSON text: values by key, in dictionaries by name.
  public init(_ dictionaries: [String: [String: String]] = [:]) {
    state = Mutex(State(dictionaries: dictionaries.mapValues { $0.mapValues { Array($0.utf8) } }))
  }

  /// All settings, as JSON text.
  public var dictionaries: [String: [String: String]] {
    get {
      state.withLock { state in
        state.dictionaries.mapValues { $0.mapValues { String(decoding: $0, as: UTF8.self) } }
      }
    }
    set {
      state.withLock { $0.dictionaries = newValue.mapValues { $0.mapValues { Array($0.utf8) } } }
    }
  }

  /// The number of times that a dictionary was read.
  public var reads: Int { state.withLock { $0.reads } }

  /// The error of every read; `nil` for reads that succeed.
  public var failure: SyncError? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// The values of a dictionary.
  public func values(in dictionary: String) async throws(SyncError) -> [String: [UInt8]] {
    try state.withLock { state throws(SyncError) in
      state.reads += 1
      if let failure = state.failure { throw failure }
      return state.dictionaries[dictionary] ?? [:]
    }
  }
}
