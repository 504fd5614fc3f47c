/// A possible fault of a world. Each world has a random subset of them.
public enum Hazard: String, Hashable, Sendable, CaseIterable, Codable {
  /// Requests fail before they reach the remote.
  case failedRequests
  /// The remote answers, and the answer is lost.
  case lostAnswers
  /// Requests get no answer for a long time.
  case slowAnswers
  /// The remote asks for a pause, sometimes longer than the engine's limit.
  case requestedPauses
  /// The remote refuses: credentials, rights, quota.
  case refusals
  /// Pages are shorter than requested, empty, or repeated.
  case oddPages
  /// A lagging replica answers.
  case staleReplica
  /// The remote forgets sync tokens and page tokens.
  case expiringTokens
  /// The remote is wiped and set up again.
  case wipes
  /// The remote has bytes that are not a record.
  case malformed
  /// Records have a newer schema than the app, and apps are upgraded.
  case newerSchemas
  /// Writes at the remote become visible later than their timestamps.
  case lateCommits
  /// Store calls fail without an effect.
  case failedStoreCalls
  /// Store calls have their effect, and report a failure.
  case lostAcknowledgements
  /// Store calls take very long.
  case slowStore
  /// Processes are killed and restarted.
  case crashes
  /// Processes are stopped for longer than their lease, and continue.
  case stoppedProcesses
  /// Clocks jump forwards and backwards, and have different rates.
  case jumpingClocks
  /// The network is unreachable for a while.
  case offlineTimes
  /// The app cancels a sync.
  case cancellations
  /// Two syncs are requested at once in one process.
  case simultaneousCalls
  /// The app edits records that other replicas edit too.
  case localEdits
  /// The remote is full, for a while or until the app makes room.
  case fullRemote
  /// The remote refuses or postpones some edits, or accepts fewer than declared.
  case capriciousRemote
  /// Records have duplicates, which the app merges.
  case duplicates
  /// The app sees records all the time, and records sightings now and then.
  case sightings
  /// Records of one type form circles, at the remote and in edits.
  case circles
  /// The app hides records by changing rules.
  case cleanUps
  /// Updates of the app change the declared types, references and natural keys.
  case changingDeclarations
  /// Two versions of the app with different declarations share the store.
  case sharedVersions
  /// The app changes to another remote while edits are pending.
  case exchangedSource
  /// The sink answers a repeated change with the remote's current state.
  case presentAnswers
  /// The remote spells numbers in its own way.
  case respelling
  /// The sink throws at each batch that has a certain record.
  case failingEdits
  /// Refusals of the remote are permanent.
  case lastingRefusals
  /// The policy's merges are invalid JSON, or refer to missing records.
  case brokenPolicies
  /// Records of two types are duplicates, and one type refers to the other.
  case keysOfTwoTypes
  /// The app comes with a bundled data set.
  case bundles
  /// Triggers start syncs beside those of the app, with a time limit.
  case coordinators

  /// The remote has unreadable bytes without a known key.
  case namelessBytes
  /// The remote never has room for more records.
  case lastingFullness
  /// The remote refuses lookups of some type's records.
  case refusedLookups

  /// The app inserts defaults and migrates legacy settings before it has pulled anything.
  case defaults
  /// References have different rules for targets that were deleted elsewhere.
  case deletionRules
  /// A field is immutable, and other clients drop it or change it.
  case immutableFields
  /// The remote writes an immutable field itself.
  case assignedFields
  /// The remote refuses two teams with one badge.
  case uniqueValues
  /// Every writer adds to one number, and a policy adds up what they have added.
  case sums
  /// The person has other devices, which edit, sync and collapse duplicates as well.
  case otherDevices
  /// Another person logs in, and finds the store of the one before.
  case exchangedAccounts

  /// The remote is restored from a backup once: records, deletions and versions go back.
  case restoredRemotes
  /// A listing states a number of records that it does not have.
  case lyingTotals
  /// The remote refuses the pages beyond a cap for some time.
  case cappedLists
  /// Records of one time come in another order, and partly again, in each answer.
  case reorderedTies
  /// Each answer has another value of a member, under an equal version.
  case volatileMembers
  /// The remote stores some values in a form of its own, and its answers do not show that.
  case normalising
  /// The remote gives new records keys of its own.
  case assignedKeys

  /// The hazards that are drawn apart, so that worlds without them are as they were before.
  static let drawnApart: [Hazard] = [
    .restoredRemotes, .lyingTotals, .cappedLists, .reorderedTies, .volatileMembers, .normalising,
    .assignedKeys,
  ]
}
