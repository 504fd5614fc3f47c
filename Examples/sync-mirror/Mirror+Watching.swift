#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncToolSupport

  extension Mirror {
    /// Polls until a stop is requested, and returns the combined result.
    ///
    /// A poll of an unchanged collection is one request, answered without a body. A failure is
    /// retried later, unless only a person can help.
    func watch(into store: any LocalStore) async throws(SyncError) -> Look {
      var pace = options.pace
      var all = Look(result: SyncResult(), live: [:])
      var (hasLooked, pause) = (false, Duration.zero)
      repeat {
        do throws(SyncError) {
          let next = try await look(into: store)
          all.add(next)
          let hasChanged = !next.result.total.isEmpty || next.result.pushed.accepted > 0
          screen.finish()
          if !hasLooked || hasChanged { screen.say("Watching: \(Self.summary(next.result)).") }
          pause = pace.pause(afterChange: hasChanged || !hasLooked)
          hasLooked = true
        } catch {
          guard error.mayPass || error.code == .authentication && remote.renewsCredentials else {
            throw error
          }
          pause = pace.pause(after: error)
          screen.finish()
          screen.say("\(error); the next poll is in \(pause.roughly).")
        }
      } while await stop.pause(for: pause)
      all.result.wasCancelled = true
      return all
    }

    private static func summary(_ result: SyncResult) -> String {
      let total = result.total
      let pushed =
        result.pushed.accepted > 0 ? ", \(Counted(result.pushed.accepted, "edit").grouped) accepted" : ""
      return "\(total.inserted) inserted, \(total.updated) updated, \(total.deleted) deleted\(pushed)"
    }
  }

  extension Mirror.Look {
    /// Adds the result of a later poll.
    mutating func add(_ later: Mirror.Look) {
      result.add(later.result)
      waiting = later.waiting
      live.merge(later.live) { $1 }
    }
  }

  extension SyncError {
    /// Whether a later poll may succeed without a person's help.
    fileprivate var mayPass: Bool {
      switch code {
      case .offline, .syncAlreadyInProgress, .leaseLost, .storeBusy: true
      // Its database may be away, or the system short of memory or files.
      case .storeFailure: !isOfDamagedStore
      default: code.isRetryable
      }
    }
  }
#endif
