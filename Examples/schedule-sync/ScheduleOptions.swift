import CanonicalSyncToolSupport

/// The options of the command line.
struct ScheduleOptions {
  let store: String
  let data: String?
  let pageSize: Int
  let latency: Duration
  let cancelAfterPages: Int?
  let lease: Duration
  let listsEverything: Bool
  let allowsMassDeletion: Bool
  let isLogging: Bool
  let isJSON: Bool

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let store = Option<String>.text(
      "store", OpenedStore.placeholder, OpenedStore.meaning, default: "schedule.sqlite")
    let data = Option<String?>.text(
      "data", "DIR", "sync the <type>.ndjson files of a directory instead of the built-in schedule")
    let pageSize = Option<Int>.pageSize()
    let latency = Option<Int>.latency
    let cancelAfter = Option<Int?>.number(
      "cancel-after-pages", "N", "stop after so many committed pages", in: 1...Int.max)
    let lease = Option<Int>.lease
    let resync = Option<Bool>.resync
    let allow = Option<Bool>.flag(
      "allow-mass-deletion", "let more than half of a type go, if the remote no longer has it")
    let log = Option<Bool>.log
    let json = Option<Bool>.flag(
      "json",
      "end with one JSON object that holds the counts, how many changes wait for others (waiting), and how many edits in the outbox (waitingEdits)"
    )

    let command = Command(
      "schedule-sync", "Syncs a sports schedule into an SQLite store, page by page.",
      options: [store, data, pageSize, latency, cancelAfter, lease, resync, allow, log, json],
      examples: [
        ("schedule-sync --store games.sqlite", "the built-in schedule; again: only what changed"),
        ("schedule-sync --store games.sqlite --data DIR", "the records of DIR/<type>.ndjson"),
        ("schedule-sync --store games.sqlite --latency-ms 200", "slow enough to try Ctrl-C"),
      ])
    let arguments = command.argumentsOrExit()
    self.store = arguments[store]
    self.data = arguments[data]
    self.pageSize = arguments[pageSize]
    self.latency = .milliseconds(arguments[latency])
    self.cancelAfterPages = arguments[cancelAfter]
    self.lease = .seconds(arguments[lease])
    self.listsEverything = arguments[resync]
    self.allowsMassDeletion = arguments[allow]
    self.isLogging = arguments[log]
    self.isJSON = arguments[json]
  }
}
