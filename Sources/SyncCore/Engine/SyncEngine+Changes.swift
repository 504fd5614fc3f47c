public import SyncModels

extension SyncEngine {
  /// The records that readers see otherwise than before, from now on, for one consumer: what an app refreshes what it shows by.
  ///
  /// Each element is what one transaction changed, told once it is in the store. A consumer too slow to be told of each gets
  /// ``SyncEvent/ChangedRecords/many``, and had better read anew.
  public func changes() -> some AsyncSequence<SyncEvent.ChangedRecords, Never> & Sendable {
    events().compactMap { event in
      switch event {
      case .edited(let changed), .hidden(let changed): changed
      case .pageCommitted(let report): report.changed.isEmpty ? nil : report.changed
      case .lost: .many
      default: nil
      }
    }
  }
}
