// The numbers and marks by which stores keep withheld changes.

extension WithheldChange.Finder {
  /// The number that a store keeps: a push's is negative, and zero stands for the store.
  package var stored: Int64 {
    switch self {
    case .sync(let fence): fence
    case .push(let fence): 0 &- fence
    case .store: 0
    }
  }

  /// Creates the finder of a stored number.
  package init(stored number: Int64) {
    // A damaged store may hold the least number, which has no negative.
    self = number > 0 ? .sync(fence: number) : number < 0 ? .push(fence: 0 &- number) : .store
  }
}

extension WithheldChange.Key {
  /// Whether the key is a digest.
  package var isBytes: Bool {
    if case .bytes = self { true } else { false }
  }
}
