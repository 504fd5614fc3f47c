public import SyncModels

/// A transaction that takes part in how a sync commits several pages.
///
/// For implementers: conforming is optional, and so is each requirement.
public protocol PageGroupTransaction: StoreTransaction {
  /// Whether other writes of this process wait now, or probably will soon.
  ///
  /// A sync commits the pages that have arrived together, because one long transaction costs less
  /// than several short ones. If other writes wait, such as an app's edit, it commits after the
  /// next page. It asks once for each page. A wrong answer changes only how long they wait. By
  /// default it is `false`.
  var isAwaited: Bool { get }

  /// Announces the questions for the states of the pages' copies.
  ///
  /// A store far away can then read those of the later pages while the first page is merged. By
  /// default this does nothing. Each question is for one page's copies, in their order, and
  /// compares their payloads. One that is asked otherwise, or never, costs only time.
  func readAhead(_ pages: [[RecordChange]])
}

extension PageGroupTransaction {
  /// The answer of a store that does not know.
  public var isAwaited: Bool { false }

  /// Does nothing.
  public func readAhead(_ pages: [[RecordChange]]) {}
}
