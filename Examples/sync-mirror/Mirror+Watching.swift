#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import SchedulingAdapters
  import SyncAdapters

  extension Mirror {
    /// Polls until a stop is requested, and returns the combined result.
    ///
    /// A poll of an unchanged collection is one request, answered without a body. A failure is
    /// retried later, unless only a person can help. The log has the polls that brought something new.
    func watch(into store: any LocalStore) async throws(SyncError) -> Look {
      var pace = options.pace
      var all = Look(result: SyncResult(), live: [:])
      var (hasLooked, pause) = (false, Duration.zero)
      let nights = try InProcessScheduler(timeZone: service.options.timeZone)
      let night = BackgroundRequest(.processing, earliest: .next(BackgroundPolicy().processingAt))
      var nextNight = nights.submit(night)
      repeat {
        service.log.beginPoll()
        do throws(SyncError) {
          let next = try await look(into: store)
          all.add(next)
          let hasChanged = !next.result.total.isEmpty || next.result.pushed.accepted > 0
          let outcome =
            next.result.wasCancelled ? SyncOutcome.stopped(next.result) : .completed(next.result)
          service.receive(outcome)
          if !hasLooked || hasChanged {
            var entry = LogEntry(outcome)
            entry.words = "Watching: \(Self.summary(next.result))."
            service.log.write(entry)
          }
          pause = min(
            pace.pause(afterChange: hasChanged || !hasLooked),
            max(.zero, nextNight.duration(since: .now)))
          hasLooked = true
          if Timestamp.now >= nextNight {
            nextNight = nights.submit(night)
            try await service.performCleanUp(service.stop)
          }
        } catch {
          guard error.mayPass || error.code == .authentication && remote.renewsCredentials else {
            throw error
          }
          pause = pace.pause(after: error)
          let outcome = SyncOutcome.unavailable(error)
          service.receive(outcome)
          var entry = LogEntry(outcome)
          entry.fields.append(("next", .string((Timestamp.now + pause).inUTC)))
          entry.words = "\(error); the next poll is in \(pause.roughly)."
          service.log.tell(entry, as: "\(error)")
        }
      } while await service.stop.pause(for: pause)
      all.result.wasCancelled = true
      return all
    }

    /// What is new, in words.
    private static func summary(_ result: SyncResult) -> String {
      let total = result.total
      let parts = [
        (total.inserted, "inserted"), (total.updated, "updated"), (total.deleted, "deleted"),
        (total.replayed, "shown that had waited"),
        (total.deferred, "waiting for others (sync-inspect waiting)"),
        (result.pushed.accepted, "of the edits accepted"),
      ].filter { $0.0 > 0 }
      return parts.isEmpty
        ? "nothing new" : parts.map { "\($0.0.grouped) \($0.1)" }.joined(separator: ", ")
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
