/// Something that can go wrong in a world. Each world has a random subset of them.
public enum Hazard: String, Hashable, Sendable, CaseIterable, Codable {
  /// Requests fail before the remote hears of them.
  case failedRequests
  /// The remote answers, and the answer is lost.
  case lostAnswers
  /// Requests get no answer for a long time.
  case slowAnswers
  /// The remote asks for a pause, sometimes a longer one than anybody waits for.
  case requestedPauses
  /// The remote refuses: credentials, rights, quota.
  case refusals
  /// Pages are shorter than asked for, empty, or come twice.
  case oddPages
  /// A replica answers that lags behind.
  case staleReplica
  /// The remote forgets sync tokens and page tokens.
  case expiringTokens
  /// The remote is wiped and set up anew.
  case wipes
  /// Bytes that are no record.
  case malformed
  /// Records of a schema that the app does not understand yet, and apps that learn to.
  case newerSchemas
  /// Writes at the remote become visible later than their time says.
  case lateCommits
  /// Calls of the store fail before they have an effect.
  case failedStoreCalls
  /// Calls of the store report a failure after they had their effect.
  case lostAcknowledgements
  /// Calls of the store take very long.
  case slowStore
  /// Processes are killed, and started again.
  case crashes
  /// Processes are stopped for longer than their lease lasts, and go on.
  case stoppedProcesses
  /// Clocks are set forwards and backwards, and do not run alike.
  case jumpingClocks
  /// The network is away for a while.
  case offlineTimes
  /// Somebody cancels a sync.
  case cancellations
  /// Two syncs are asked for at once in one process.
  case simultaneousCalls
  /// The app edits records too, and meets others who edit the same ones.
  case localEdits
  /// The remote has no room for more records, for a while or until somebody makes some.
  case fullRemote
  /// The remote refuses edits of some records, or puts them off, or takes fewer at once than it says.
  case capriciousRemote
  /// Records come that are the same thing in the world, and the app collapses them.
  case duplicates
  /// The app sees things all the time, and records them now and then.
  case sightings
  /// Records of one type refer to each other in circles, at the remote and by the app's edits.
  case circles
  /// The app hides records by rules, now by these and now by others.
  case cleanUps
  /// Updates of the app declare types, references and natural keys otherwise.
  case changingDeclarations
  /// Two versions of the app, which declare things otherwise, share the store.
  case sharedVersions
  /// The app goes over to another remote, with edits pending.
  case exchangedSource
  /// The sink answers a change that comes again with what the remote has by then.
  case presentAnswers
  /// The remote writes numbers its own way.
  case respelling
  /// The sink throws at each batch that has some record in it.
  case poisonEdits
  /// What the remote refuses, it refuses for ever.
  case lastingRefusals
  /// The policy's merges are no JSON, or refer to what is not there.
  case brokenPolicies
  /// Records of two types are duplicates, and one type's refer to the other's.
  case keysOfTwoTypes
  /// The app comes with a data set of its own.
  case bundles
  /// Triggers start syncs beside those that the app starts, and their time may be up.
  case coordinators

  /// Bytes that are no record, and of which nobody knows whose they are.
  case namelessBytes
  /// The remote has no room for more records, ever.
  case lastingFullness
  /// The remote lets nobody look up records of some type.
  case refusedLookups
}
