import SyncModels

/// Detects a listing that goes round in circles, in constant memory.
///
/// A continuation leads nowhere if it equals the request's own, or one seen before in the pass
/// (found by R. P. Brent's method, BIT 20, 1980). The first may be an answer that was sent twice.
/// The second is an error, never "done".
struct StallDetector {
  private var strikes = 0
  private var landmark: PageToken?
  private var pages = 0
  private var stride = 1

  /// Records a page and its request, and returns whether the listing is stuck.
  mutating func isStuck(after position: PullPosition?, page: RecordPage) -> Bool {
    guard case .more(let token, _) = page.next else { return false }
    if position == .resume(token) || landmark == token { strikes += 1 }
    pages += 1
    if pages == stride {
      landmark = token
      pages = 0
      stride *= 2
    }
    return strikes >= 2
  }
}
