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
  case poison
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
}
