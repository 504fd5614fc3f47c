import InMemoryAdapters
import SyncModels
import SyncPorts
import Synchronization

/// The records that the app makes under keys of its own, and the keys that the remote gives them.
final class AssignedKeys: Sendable {
  private struct AnEdit: Hashable {
    var id: RecordID
    var stamp: EditStamp
  }
  private struct State {
    /// The app's ids, in the order in which they were made.
    var made: [RecordID] = []
    /// The remote's ids of records that it has made, by the app's.
    var given: [RecordID: RecordID] = [:]
    /// All of these ids, in the order in which they came.
    var all: [RecordID] = []
    /// The record that each edit has made.
    var records: [AnEdit: RecordID] = [:]
    /// Edits that the app has sent again although they may have arrived.
    var sentAgain: Set<RecordID> = []
  }
  private let state = Mutex(State())

  /// Returns an id that no record has had.
  func new(of type: RecordType) -> RecordID {
    state.withLock { state in
      let id = RecordID(type: type, key: "\(type.rawValue.prefix(1))\(200 + state.made.count)")
      state.made.append(id)
      state.all.append(id)
      return id
    }
  }

  /// All ids of the app and of the remote.
  var all: [RecordID] { state.withLock { $0.all } }

  /// The app's ids.
  var made: [RecordID] { state.withLock { $0.made } }

  /// The remote's ids, in the order of the app's.
  var given: [RecordID] { state.withLock { state in state.given.sorted { $0.key < $1.key }.map(\.value) } }

  /// Notes the key that the remote has given the record that a change makes.
  ///
  /// - Returns: Whether the same edit has made another record before, although the app did not send it
  ///   again.
  func gave(_ id: RecordID, for change: OutgoingChange) -> Bool {
    state.withLock { state in
      let edit = AnEdit(id: change.id, stamp: change.stamp)
      let former = state.records.updateValue(id, forKey: edit)
      if former != id {
        state.given[change.id] = id
        state.all.append(id)
      }
      return former != nil && former != id && !state.sentAgain.contains(change.id)
    }
  }

  /// The id that the remote has given a record; `nil` for none.
  func id(of own: RecordID) -> RecordID? { state.withLock { $0.given[own] } }

  /// The ids that records had before the remote gave them this one.
  func formerIDs(of given: RecordID) -> [RecordID] {
    state.withLock { state in
      state.given.isEmpty ? [] : state.given.filter { $0.value == given }.map(\.key).sorted()
    }
  }

  /// Notes that the app sends an edit again that may have made its record.
  func sendsAgain(_ id: RecordID) { state.withLock { _ = $0.sentAgain.insert(id) } }
}

/// The sink of a remote that gives new records keys of its own, which are noted.
struct KeyedSink: ForwardingSink {
  let base: any RemoteRecordSink
  /// Called with a change and the id of the record that it has made, before the answer can be lost.
  let note: @Sendable (_ change: OutgoingChange, _ given: RecordID) -> Void

  func answers(
    _ outcomes: [PushOutcome], to changes: [OutgoingChange], _ entities: SyncSchema
  ) -> [PushOutcome] {
    for case (let change, .moved(let record)) in zip(changes, outcomes) { note(change, record.id) }
    return outcomes
  }
}
