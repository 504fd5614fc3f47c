public import SyncModels

/// A transaction that takes part in how a sync commits several pages.
///
/// For implementers: conforming is optional, and so is each requirement.
public protocol PageGroupTransaction: StoreTransaction {
  /// Whether a sync should commit now, and write further pages in another transaction.
  ///
  /// A sync commits the pages that have arrived together, because one long transaction costs less
  /// than several short ones. A store says otherwise if other writes wait, such as an app's edit,
  /// or probably will soon, or if it brings to the disk what was committed while the sync goes on.
  /// The sync asks once for each page. A wrong answer costs only time. By default it is `false`.
  var shouldCommit: Bool { get }

  /// Announces the questions for the states of the pages' copies.
  ///
  /// A store far away can then read those of the later pages while the first page is merged. By
  /// default this does nothing. Each question is for one page's copies, in their order, and
  /// compares their payloads. One that is asked otherwise, or never, costs only time.
  func readAhead(_ pages: [[RecordChange]])
}

extension PageGroupTransaction {
  /// The answer of a store that does not know.
  public var shouldCommit: Bool { false }

  /// Does nothing.
  public func readAhead(_ pages: [[RecordChange]]) {}
}
