#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import SyncAdapters

  /// The report at the mirror's end.
  struct MirrorReport {
    let look: Mirror.Look
    let options: MirrorOptions
    /// What it means that there is no type to mirror.
    let emptiness: String
    private let output = StandardStream.output

    init(_ look: Mirror.Look, options: MirrorOptions, emptiness: String) {
      self.look = look
      self.options = options
      self.emptiness = emptiness
    }

    func print() {
      let result = look.result
      output.line(headline)
      output.line("")
      output.line(result.table(live: look.live).text(fitting: output.width))
      for line in notes {
        output.line("")
        output.line(line)
      }
      guard options.isJSON else { return }
      let members =
        result.members(live: look.live) + [
          ("dryRun", .bool(options.isDryRun)), ("waitingEdits", .integer(look.waiting)),
        ]
      output.line(JSON.object(members))
    }

    private var headline: String {
      let seconds = String(format: "%.2f", look.result.duration / .seconds(1))
      if options.isDryRun { return "A sync would do this; nothing was changed:" }
      if look.result.wasCancelled { return "Stopped after \(seconds) s of syncing, which did this:" }
      if !look.result.failures.isEmpty { return "The mirror is not up to date, after \(seconds) s:" }
      if !look.result.refusedSweeps.isEmpty {
        return "The mirror was brought up to date in \(seconds) s, but for removals that were refused:"
      }
      return "The mirror was brought up to date in \(seconds) s:"
    }

    private var notes: [String] {
      let result = look.result
      var notes: [String] = []
      if options.isDryRun, !result.refusedSweeps.isEmpty {
        notes.append("Records that the guard keeps stay, unless --allow-mass-deletion is given.")
      }
      if result.entities.isEmpty, !result.wasCancelled {
        notes.append(emptiness)
      }
      if let type = look.live.max(by: { $0.value < $1.value })?.key, !options.isDryRun, !options.watches {
        let command =
          OpenedStore.isDatabase(options.store)
          ? "sync-inspect export --store '\(options.store)' --type '\(type)' | head -5"
          : "sqlite3 -readonly \(options.store) 'SELECT id, payload FROM \"live_\(type)\" LIMIT 5'"
        notes.append("Read it:\n  \(Command.command(command, indent: 6))")
      }
      let deferred = result.total.deferred
      if deferred > 0 {
        notes.append(
          "\(Counted(deferred, "record waits", "records wait").grouped) for others that they refer to: see `sync-inspect waiting`."
        )
      }
      // Last, where they are visible: they ask for an action.
      return notes + editNotes
    }

    /// The results of local edits, and the remedies for those that wait.
    private var editNotes: [String] {
      let pushed = look.result.pushed
      var notes: [String] = []
      if pushed.requests > 0 {
        notes.append(
          "Local edits: \(pushed.accepted) accepted, \(pushed.conflicts) met others, \(pushed.refused) refused."
        )
      }
      if look.waiting > 0 {
        let advice =
          options.pushes && !options.isDryRun ? "`sync-inspect outbox` tells why" : "--push sends them"
        notes.append("Edits that wait in the outbox: \(look.waiting); \(advice).")
      }
      return notes
    }
  }
#endif
