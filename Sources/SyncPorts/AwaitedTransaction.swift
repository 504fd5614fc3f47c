/// A transaction that knows whether other writes wait for its end.
///
/// For implementers: conforming is optional. A sync commits the pages that have arrived together,
/// because one long transaction costs less than several short ones. With this protocol it commits
/// after the next page when an app's edit waits.
public protocol AwaitedTransaction: StoreTransaction {
  /// Whether other writes of this process wait now, or probably will soon.
  ///
  /// The engine asks once for each page. A wrong answer changes only how long they wait.
  var isAwaited: Bool { get }
}
