import InMemoryAdapters
import SyncConformance
import SyncModels
import SyncPorts

/// Legacy settings that break one promise.
final class FlawedSettings: LegacySettings {
  enum Flaw: CaseIterable, Sendable {
    case ignoresCase, givesText, mixesDictionaries, failsForMissing, readsOnce, createsDictionaries
    case hidesFailures, failsOnce, composesKeys

    var check: LegacySettingsCheck {
      switch self {
      case .ignoresCase, .givesText, .composesKeys: .valuesComeBackByKey
      case .mixesDictionaries: .dictionariesAreKeptApart
      case .failsForMissing: .missingDictionaryIsEmpty
      case .readsOnce, .createsDictionaries: .readingChangesNothing
      case .hidesFailures, .failsOnce: .unreadableDictionaryIsAnError
      }
    }
  }

  let base = InMemoryLegacySettings()
  private let flaw: Flaw

  init(_ flaw: Flaw) { self.flaw = flaw }

  func values(in dictionary: String) async throws(SyncError) -> [String: [UInt8]] {
    do throws(SyncError) {
      let values = try await base.values(in: dictionary)
      switch flaw {
      case .ignoresCase:
        return Dictionary(values.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
      case .composesKeys:
        return Dictionary(values.map { ($0.key == "\u{e9}/1" ? "\u{e9}/1" : $0.key, $0.value) }) { first, _ in
          first
        }
      case .givesText: return values.mapValues { $0.filter { $0 != UInt8(ascii: "\"") } }
      case .mixesDictionaries:
        let others = base.dictionaries.values.flatMap { $0 }
        return Dictionary(others.map { ($0.key, Array($0.value.utf8)) }) { first, _ in first }
      case .failsForMissing where base.dictionaries[dictionary] == nil:
        throw SyncError(.storeUnreadable, during: "reading \(dictionary)")
      case .readsOnce: base.dictionaries[dictionary] = nil
      case .createsDictionaries where values.isEmpty: base.dictionaries[dictionary] = ["a": "1"]
      default: break
      }
      return values
    } catch {
      if flaw == .failsOnce { base.failure = nil }
      guard flaw == .hidesFailures else { throw error }
      return [:]
    }
  }
}
