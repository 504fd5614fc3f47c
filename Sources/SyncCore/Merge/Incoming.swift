import SyncModels

/// A change on its way into the store, and where it comes from.
struct Incoming {
  var change: RecordChange
  var origin: Origin

  /// Where a change comes from.
  enum Origin {
    /// The page that is being committed.
    case page
    /// What had been set aside, and may no longer have to wait.
    // Behind a pointer, so that the many changes without one stay small.
    indirect case withheld(WithheldChange)

    /// Whether the change was listed just now.
    var isPage: Bool {
      if case .page = self { true } else { false }
    }
  }

  init(_ change: RecordChange) {
    self.change = change
    self.origin = .page
  }

  init(_ entry: WithheldChange) {
    self.change = entry.change
    self.origin = .withheld(entry)
  }
}
