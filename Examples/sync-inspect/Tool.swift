import CanonicalSync
import Foundation
import ToolSupport

/// Looks into a store without changing it.
@main struct Tool {
  private static let store = Option.requiredText("store", "PATH", "The store's file.")
  private static let json = Option.flag("json", "End with one JSON object on the last line of the output.")
  private static let type = Option.requiredText("type", "TYPE", "The record type, such as games.")
  private static let anyType = Option.text("type", "TYPE", "Only this record type.")
  private static let id = Option.requiredText("id", "ID", "The record's id.")
  private static let full = Option.flag("full", "Show all bytes, not only how they begin.")

  private static let command = Command(
    "sync-inspect", "Looks into a store: reads it, and changes nothing of it.", options: [store, json],
    commands: [
      Command(
        "status", "Print how each type stands: records, checkpoint, last sync, what is set aside.",
        examples: [("sync-inspect status --store schedule.db", "how the last sync left the store")]),
      Command(
        "export", "Print each live record as one line of compact JSON, sorted by id.", options: [type],
        examples: [("sync-inspect export --store schedule.db --type games | head", "the first games")]),
      Command(
        "explain", "Print what the store knows of one record; exit 1 if it never heard of it.",
        options: [type, id],
        examples: [
          ("sync-inspect explain --store schedule.db --type games --id g1", "where a game has gone")
        ]),
      Command(
        "quarantine", "List what could not be read as a record, with reason, place and bytes.",
        options: [anyType, full]),
    ],
    examples: [("sync-inspect status --store schedule.db", "how the last sync left the store")])

  static func main() async {
    let arguments = command.argumentsOrExit()
    // Where the reader of a pipe has gone, there is nobody to complain to.
    signal(SIGPIPE, SIG_DFL)
    do throws(SyncError) {
      let inspection = Inspection(
        store: try await openStore(at: arguments[store]), isJSON: arguments[json])
      try await run(arguments, on: inspection).endProcess()
    } catch {
      StandardStream.output.flush()
      StandardStream.error.line("sync-inspect: \(error.message.isEmpty ? error.description : error.message)")
      ExitCode.failure.endProcess()
    }
  }

  private static func run(
    _ arguments: Arguments, on inspection: Inspection
  ) async throws(SyncError) -> ExitCode {
    switch arguments.command {
    case "export": try await inspection.export(arguments[type])
    case "explain":
      return try await inspection.explain(arguments[type], arguments[id]) ? .success : .failure
    case "quarantine": try await inspection.quarantine(arguments[anyType], isFull: arguments[full])
    default: try await inspection.status()
    }
    return .success
  }
}
