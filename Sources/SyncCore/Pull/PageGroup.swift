import SyncModels
import SyncPorts

/// The commit of fetched pages of one type.
struct PageGroup: Sendable {
  /// The pages, in the order of their requests.
  let pages: [PageTransaction]
  /// Whether the sync probably writes no more after them.
  let isLast: Bool
  let session: SyncSession

  /// Commits the pages, and returns what was committed before any failure.
  func commit() async -> (committed: CommittedPages, error: SyncError?) {
    var committed = CommittedPages()
    do throws(SyncError) {
      if let listing = WholeListing(endedBy: pages, in: session) {
        committed = try await listing.commit()
      } else if isLast {
        committed.pages = try await session.writeLast({ session.progress.after($0) }) {
          (transaction) throws(SyncError) in
          try write(pages[...], in: transaction)
        }
      } else {
        try await commitInTurn(&committed)
      }
      return (committed, nil)
    } catch {
      return (committed, error)
    }
  }

  /// Commits all pages at once, or fewer whenever the store asks for a commit.
  private func commitInTurn(_ committed: inout CommittedPages) async throws(SyncError) {
    var rest = pages[...]
    while !rest.isEmpty {
      let next = rest
      let tallies = try await session.write { (transaction) throws(SyncError) in
        try write(next, in: transaction, givingWay: true)
      }
      committed.pages += tallies
      rest = rest.dropFirst(tallies.count)
    }
  }

  /// Writes pages, and returns the outcome of each that was written.
  ///
  /// - Parameter givesWay: Whether to end after a page if the store asks for a commit.
  private func write(
    _ pages: ArraySlice<PageTransaction>, in transaction: any StoreTransaction,
    givingWay givesWay: Bool = false
  ) throws(SyncError) -> [Tally] {
    let group = pages.count > 1 ? transaction as? any PageGroupTransaction : nil
    // A staged page asks for no states.
    if pages.first?.context.stages == false { group?.readAhead(pages.map(\.commit.page.changes)) }
    var tallies: [Tally] = []
    for page in pages {
      tallies.append(try page.run(in: transaction))
      if givesWay, group?.shouldCommit == true { break }
    }
    return tallies
  }
}

/// The result of committing some pages of one type.
struct CommittedPages: Sendable {
  /// The tally of each page.
  var pages: [Tally] = []
  /// The tallies of sweeps and lookups.
  var changes: [Tally] = []
  /// The number of requests that confirmed absences.
  var requests = 0
  /// Why the sweep of a whole type was refused.
  var refusal: Checkpoint.Refusal?
  /// Whether the type is not published yet, because absences have to be confirmed.
  var isUnconfirmed = false
}
