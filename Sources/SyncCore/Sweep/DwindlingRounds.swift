import SyncModels

/// Checks rounds that repeat until one of them removes nothing from the store.
///
/// Each round leaves less for the next. A damaged store may find removed records again, for example
/// by an index that no longer has them. The rounds would then never end. Between two rounds an app
/// may also bring back what the first one removed, but not again and again.
struct DwindlingRounds {
  // Constant size, however many records a round removes.
  private var before: Int?
  /// The number of successive rounds that removed the same records.
  private var repetitions = 0
  private var taken = Hasher()
  private var type: RecordType?

  private static let repetitionsAtMost = 3

  /// Notes the records that a round removed, in order.
  mutating func note(_ ids: some Sequence<RecordID>) {
    for id in ids {
      taken.combine(id)
      type = id.type
    }
  }

  /// Ends a round.
  ///
  /// - Returns: Whether another round may find something.
  /// - Throws: `storeUnreadable` if too many rounds removed the same records as the one before.
  mutating func end() throws(SyncError) -> Bool {
    guard let type else { return false }
    let now = taken.finalize()
    repetitions = now == before ? repetitions + 1 : 0
    guard repetitions <= Self.repetitionsAtMost else {
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
