import SyncModels

/// Watches rounds, each of which takes something out of the store and so leaves less for the next one, until one finds nothing.
///
/// A damaged store may find again what was taken out of it, by an index that no longer has it, say; the rounds would then have no end.
struct DwindlingRounds {
  // However many records a round takes out, what is kept of them is this.
  private var before: Int?
  private var taken = Hasher()
  private var type: RecordType?

  /// Notes what a round took out, in the order of the round.
  mutating func note(_ ids: some Sequence<RecordID>) {
    for id in ids {
      taken.combine(id)
      type = id.type
    }
  }

  /// Ends a round, and tells whether another one may find something.
  ///
  /// - Throws: `storeUnreadable` where the round took out just what the one before it did.
  mutating func end() throws(SyncError) -> Bool {
    guard let type else { return false }
    let now = taken.finalize()
    guard now != before else {
      throw SyncError(
        .storeUnreadable, during: "removing records of \(type)",
        """
        The store still finds records that were removed, and would do so forever: it is damaged. Everything \
        committed before is kept.
        """)
    }
    before = now
    (taken, self.type) = (Hasher(), nil)
    return true
  }
}
