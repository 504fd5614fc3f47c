import SyncModels
import Synchronization

/// What was saved of a value that was read, so that the next save of it is compared with the last one.
///
/// Each value of a form has its own: a copy that is changed gets another one, which comes after this one.
/// So all that share one have the same value, and a save of a copy that was changed otherwise is none of
/// theirs.
final class FormSaves: Sendable {
  /// A save that was committed.
  struct Save: Sendable {
    /// The members as the form has them: what was read, with what was saved over it.
    var view: Payload
    /// The record as the store had it after the save; as it was before, if others had changed it by then.
    var stored: Payload
  }

  /// The saves of one transaction, which count once it is committed.
  typealias Uncommitted = [ObjectIdentifier: (form: FormSaves, save: Save)]

  private struct State {
    var last: Save?
    var isHandedOver = false
  }

  /// Those of the value before, a save of which is under way or has failed.
  private let former: FormSaves?
  private let state: Mutex<State>

  /// Creates what follows the saves of the value before; `nil` for a value as it was read.
  init(after former: FormSaves?) {
    let known = former?.state.withLock(\.self) ?? State()
    self.former = known.last != nil ? nil : known.isHandedOver ? former : former?.former
    state = Mutex(State(last: known.last))
  }

  /// Whether the value has been handed over for a save, so that a change makes another one.
  var isHandedOver: Bool { state.withLock(\.isHandedOver) }

  /// Notes that the value is handed over for a save.
  func begin() { state.withLock { $0.isHandedOver = true } }

  /// Notes a save that was committed.
  func note(_ save: Save) { state.withLock { $0.last = save } }

  /// Returns the last save of this value or of the ones before.
  ///
  /// - Parameter uncommitted: The saves of the transaction under way.
  func last(_ uncommitted: Uncommitted) -> Save? {
    uncommitted[ObjectIdentifier(self)]?.save ?? state.withLock(\.last) ?? former?.last(uncommitted)
  }
}
