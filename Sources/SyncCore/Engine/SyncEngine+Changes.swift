public import SyncModels

extension SyncEngine {
  /// Streams the records that change for readers from now on, for one consumer.
  ///
  /// An app uses it to refresh what it shows. Each element holds the changes of one transaction,
  /// after its commit. A consumer that is too slow for each of them receives
  /// ``SyncEvent/ChangedRecords/many``, and should reload everything.
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
