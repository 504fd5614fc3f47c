public import SyncModels
public import SyncPorts
import Synchronization

/// Legacy settings that live in this process, for tests, and for apps that read theirs by themselves.
public final class InMemoryLegacySettings: LegacySettings {
  private struct State {
    var dictionaries: [String: [String: [UInt8]]]
    var reads = 0
    var failure: SyncError?
  }

  private let state: Mutex<State>

  /// Settings given as JSON text: values by key, in dictionaries by name.
  public init(_ dictionaries: [String: [String: String]] = [:]) {
    state = Mutex(State(dictionaries: dictionaries.mapValues { $0.mapValues { Array($0.utf8) } }))
  }

  /// Everything, as JSON text.
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

  /// How often a dictionary was read.
  public var reads: Int { state.withLock { $0.reads } }

  /// What reading fails with, while it is to fail.
  public var failure: SyncError? {
    get { state.withLock { $0.failure } }
    set { state.withLock { $0.failure = newValue } }
  }

  /// What a dictionary holds.
  public func values(in dictionary: String) async throws(SyncError) -> [String: [UInt8]] {
    try state.withLock { state throws(SyncError) in
      state.reads += 1
      if let failure = state.failure { throw failure }
      return state.dictionaries[dictionary] ?? [:]
    }
  }
}
