package import SyncModels

/// A transaction that can read the states of records before they are asked for.
///
/// A store far away then reads those of the later pages while the first page is merged.
package protocol ReadAheadTransaction: StoreTransaction {
  /// Announces the questions for the copies of some pages, in the order of the pages.
  ///
  /// Each question is for one page's copies, in their order, and compares their payloads. One that
  /// is asked otherwise, or never, costs only time.
  func readAhead(_ pages: [[RecordChange]])
}
