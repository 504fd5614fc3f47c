/// An error below a store's failure, which tells whether the store's contents are its reason.
package protocol StoreCause: Error {
  /// Whether the failure says nothing of the contents, such as too many open files.
  var isOutsideStore: Bool { get }
}

private struct StoreClosed: StoreCause {
  var isOutsideStore: Bool { true }
}

extension SyncError {
  /// The error of a call after a store was closed.
  package static var closedStore: SyncError {
    SyncError(
      .storeFailure, during: "using the store", "The store has been closed.", underlying: StoreClosed())
  }

  /// Whether a store's read may have failed because of its contents.
  package var isOfDamagedStore: Bool {
    switch code {
    case .storeUnreadable: true
    case .storeFailure: !((underlying as? any StoreCause)?.isOutsideStore ?? false)
    default: false
    }
  }
}
