/// A member of one of the values that each sync reads from the store.
///
/// These values share one type of keys. The first decoding by a further type of keys searches all
/// conformances of the process, which takes longer than all else that a small sync reads.
package enum StoredMember: CodingKey {
  // A checkpoint.
  case scope, committed, committedAt, inFlight, lastPass, epoch, sweptPass, sweptFence
  case deletionsVerifiedAt, needsSecondListing, hasNewQuery, sweep
  // The scope of its tokens.
  case source, query, schemaVersion, store
  // A token.
  case rawValue
  // The status of a type.
  case lastSuccess, lastAttempt, lastError, consecutiveFailures, successes, failures
}
