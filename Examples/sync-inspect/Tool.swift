import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncMaintenance

/// Inspects a store, and edits its records.
@main struct Tool {
  private static let store = Option.requiredText("store", OpenedStore.placeholder, OpenedStore.meaning)
  private static let json = Option.flag("json", "end with one JSON object on the last line of the output")
  private static let type = Option.requiredText("type", "TYPE", "the record type, such as games")
  private static let anyType = Option.text("type", "TYPE", "only this record type")
  private static let id = Option.requiredText("id", "ID", "the record's id")
  private static let full = Option.flag("full", "show all bytes, not only the beginning")
  private static let limit = Option.number(
    "limit", "N", "the number of entries to show", in: 1...Int.max, default: 20)
  private static let all = Option.flag("full", "name all records that wait, not only the first")
  private static let groups = Option.number(
    "limit", "N", "the number of missing records to show", in: 1...Int.max, default: 20)
  private static let staleAfter = Option<Int?>.number(
    "stale-after", "SECONDS",
    "the age from which data and unpushed edits are too old; by default six usual intervals between syncs, and at least an hour",
    in: 1...1_000_000_000)
  private static let backupFile = Option.requiredText("to", "FILE", "the copy's file; it must not exist")
  private static let syncs = Option.number(
    "limit", "N", "the number of syncs to show", in: 1...1000, default: 20)
  private static let set = Option.texts(
    "set", "NAME=JSON", "give a member a value, such as floor=2 or 'name=\"Hall\"'")
  private static let unset = Option.texts("unset", "NAME", "remove a member")
  private static let delete = Option.flag("delete", "delete the record")
  private static let discard = Option.flag(
    "discard", "discard the edit in the outbox, and restore the remote's last known state")
  private static let from = Option.requiredText(
    "from", "BROKEN", "the damaged store, a file or the address of a database; it is not changed")
  private static let to = Option.requiredText("to", "NEW", "the new store's file; it must not exist")
  private static let quick = Option.flag("quick", "do not compare the indexes of a file with its tables")
  private static let oldStore = Option.requiredText("from", OpenedStore.placeholder, "the store to move")
  private static let newStore = Option.requiredText(
    "to", OpenedStore.placeholder, "the empty store to move it to")
  private static let abandon = Option.flag(
    "abandon", "take the old store into use again, unless the new one has taken its place")
  private static let out = Option.requiredText(
    "out", "FILE", "the page's file, replaced if it is an earlier report; - for standard output")
  private static let contents = Option.flag(
    "contents", "show values and bytes of records too, in a file that only its owner can read")
  private static let retry = Option.flag("retry", "send an edit again that the remote refused or postponed")

  private static let command = Command(
    "sync-inspect", "Inspects a store, and changes nothing except by `edit` and `move`.",
    options: [json],
    commands: [
      Command(
        "status", "Print the status of each type: records, checkpoint, last sync, withheld changes.",
        options: [store, staleAfter],
        examples: [("sync-inspect status --store schedule.db", "how the last sync left the store")]),
      Command(
        "export", "Print each live record as one line of compact JSON, sorted by id.",
        options: [store, type],
        examples: [("sync-inspect export --store schedule.db --type games | head", "the first games")]),
      Command(
        "explain", "Print what the store knows of one record; exit 1 if it knows nothing.",
        options: [store, type, id],
        examples: [
          ("sync-inspect explain --store schedule.db --type games --id g1", "why a game is missing")
        ]),
      Command(
        "quarantine", "List malformed records, with reason, place and bytes.",
        options: [store, anyType, full]),
      Command(
        "waiting", "List the records that are missing, and those that wait for them.",
        options: [store, anyType, groups, all]),
      Command(
        "outbox", "List the local edits that the remote has not acknowledged, and what they wait for.",
        options: [store, anyType]),
      Command(
        "conflicts", "List merge conflicts, the newest first: both versions, the winner and the reason.",
        options: [store, anyType, limit, full]),
      Command(
        "history", "List the last syncs, the latest first: trigger, outcome, counts, bytes and times.",
        options: [store, syncs],
        examples: [("sync-inspect history --store schedule.db --limit 10", "the last ten syncs")]),
      Command(
        "report", "Write a page for a browser: what is wrong, what to do, and the store's history.",
        options: [store, out, contents, staleAfter],
        examples: [
          ("sync-inspect report --store schedule.db --out report.html", "a page to read, keep or send")
        ]),
      Command(
        "edit", "Edit one record, here at once and at the remote with the next push.",
        options: [store, type, id, set, unset, delete, discard, retry],
        examples: [
          ("sync-inspect edit --store schedule.db --type teams --id BOS --set 'name=\"Bees\"'", "a new name"),
          ("sync-inspect edit --store schedule.db --type games --id g1 --delete", "deletes a game"),
        ]),
      Command(
        "verify",
        "Check the file and every invariant of a store, also while it is in use; exit 1 on a finding.",
        options: [store, quick],
        examples: [("sync-inspect verify --store schedule.db && echo sound", "whether the store is damaged")]),
      Command(
        "salvage", "Make a new store of a damaged one: edits first; exit 1 if some were lost.",
        options: [from, to],
        examples: [
          ("sync-inspect salvage --from schedule.db --to rescued.db", "a store to sync instead")
        ]),
      Command(
        "backup", "Write a verified copy of a store, which may be in use; the store stays as it is.",
        options: [store, backupFile],
        examples: [("sync-inspect backup --store schedule.db --to backup.db", "a store to open or restore")]),
      Command(
        "move", "Move a whole store to an empty one, and retire it. After an interruption, run it again.",
        options: [oldStore, newStore, abandon],
        examples: [
          (
            "sync-inspect move --from schedule.db --to 'postgres://db.example.com/league?schema=schedule'",
            "the file takes no edits and no syncs any more"
          )
        ]),
    ],
    examples: [("sync-inspect status --store schedule.db", "how the last sync left the store")])

  static func main() async {
    let arguments = command.argumentsOrExit()
    let alteration = arguments.command == "edit" ? alteration(arguments) : nil
    if arguments.command == "report", arguments[json], arguments[out] == "-" {
      command.refuse(UsageError("--json has no place after the page on standard output; name a file"))
    }
    if arguments.command == "salvage", OpenedStore.isDatabase(arguments[to]) {
      command.refuse(
        UsageError("--to must be a file; `sync-inspect move` then moves it to an empty store in a database"))
    }
    // Once the reader of a pipe is gone, an error message has no reader either.
    signal(SIGPIPE, SIG_DFL)
    do throws(SyncError) {
      try await perform(arguments, alteration).endProcess()
    } catch {
      error.tell(
        by: "sync-inspect", error.message.isEmpty ? nil : error.message, isJSON: arguments[json])
      ExitCode.failure.endProcess()
    }
  }

  private static func perform(
    _ arguments: Arguments, _ alteration: Alteration?
  ) async throws(SyncError) -> ExitCode {
    switch arguments.command {
    case "verify":
      return try await Verification(isJSON: arguments[json]).run(
        at: arguments[store], isQuick: arguments[quick])
    case "salvage":
      return try await Salvage(isJSON: arguments[json]).run(from: arguments[from], to: arguments[to])
    case "backup":
      #if SQLite
        return try await Backup(isJSON: arguments[json]).run(of: arguments[store], to: arguments[backupFile])
      #else
        throw SyncError(
          .invalidConfiguration, during: "backing up a store", "This build lacks the trait SQLite.")
      #endif
    case "move":
      return try await move(arguments)
    default:
      let isJSON = arguments[json]
      // These read, or change a single record in one transaction: nothing is to be saved.
      let interrupt = Interrupt { interrupted(isJSON: isJSON) }
      defer { withExtendedLifetime(interrupt) {} }
      let inspection = Inspection(store: try await openStore(at: arguments[store]), isJSON: isJSON)
      return try await run(arguments, alteration, on: inspection)
    }
  }

  private static func interrupted(isJSON: Bool) -> Never {
    if isJSON {
      StandardStream.output.line(JSON.cancelled)
      StandardStream.output.flush()
    }
    // Unlike `exit`, it may be called while the main task ends the process too.
    _exit(ExitCode.interrupted.rawValue)
  }

  private static func alteration(_ arguments: Arguments) -> Alteration {
    do throws(UsageError) {
      return try Alteration(
        of: arguments[id], set: arguments[set], unset: arguments[unset], deletes: arguments[delete],
        discards: arguments[discard], retries: arguments[retry])
    } catch {
      command.refuse(error)
    }
  }

  private static func move(_ arguments: Arguments) async throws(SyncError) -> ExitCode {
    let (old, new, abandons) = (arguments[oldStore], arguments[newStore], arguments[abandon])
    let stop = CancellationSource()
    let interrupt = Interrupt { stop.cancel() }
    defer { withExtendedLifetime(interrupt) {} }
    guard old != new else {
      throw SyncError(.invalidConfiguration, during: "moving a store", "Both stores are the same.")
    }
    // Looking at a store that is not there makes none.
    await (try OpenedStore.open(old, isReadOnly: true)).close()
    let source = try await OpenedStore.open(old)
    if abandons { try await StoreMove.demandMove(of: source.store, to: new) }
    let target = try await OpenedStore.open(new)
    let screen = PatientBar()
    let move = try StoreMove(
      from: source.store, to: target.store, at: new, token: stop,
      onProgress: { screen.show($0) },
      onCopied: { screen.say("\($0) is there.") })
    defer { screen.finish() }
    do throws(SyncError) {
      if abandons {
        try await move.abandon()
      } else {
        let isNew = try await move.run()
        StandardStream.error.notice(isNew ? "Moved to \(new)." : "The store has moved already.")
      }
    } catch {
      guard error.code == .cancelled else { throw error }
      StandardStream.error.line("Stopped. Run the same command again to continue.")
      if arguments[json] { StandardStream.output.line(JSON.cancelled) }
      return .interrupted
    }
    await source.close()
    await target.close()
    if arguments[json] { StandardStream.output.line(JSON.object([("moved", .bool(!abandons))])) }
    return .success
  }

  private static func run(
    _ arguments: Arguments, _ alteration: Alteration?, on inspection: Inspection
  ) async throws(SyncError) -> ExitCode {
    if let alteration {
      try await inspection.edit(arguments[type], arguments[id], alteration, at: arguments[store])
      return .success
    }
    switch arguments.command {
    case "export": try await inspection.export(arguments[type])
    case "explain":
      return try await inspection.explain(arguments[type], arguments[id]) ? .success : .failure
    case "waiting":
      try await inspection.waiting(arguments[anyType], limit: arguments[groups], isFull: arguments[all])
    case "quarantine": try await inspection.quarantine(arguments[anyType], isFull: arguments[full])
    case "outbox": try await inspection.outbox(arguments[anyType])
    case "conflicts":
      try await inspection.conflicts(
        arguments[anyType], limit: arguments[limit], isFull: arguments[full])
    case "history": try await inspection.history(limit: arguments[syncs])
    case "report":
      let (store, out) = (arguments[store], arguments[out])
      try await inspection.report(
        of: store, to: out == "-" ? nil : try ReportPage.file(at: out), showsContents: arguments[contents],
        staleAfter: arguments[staleAfter].map { .seconds($0) })
    default: try await inspection.status(staleAfter: arguments[staleAfter].map { .seconds($0) })
    }
    return .success
  }
}
