package import CanonicalSync

extension LogEntry {
  /// The status of the network.
  init(_ status: NetworkStatus) {
    self.init(
      "network", ("is", .string(status.connectivity.rawValue)),
      ("over", status.interface.map { .string($0.rawValue) }))
  }

  /// An event of the coordinator; `nil` for a successful clean-up, which logs itself.
  init?(_ event: SyncCoordinator.Event) {
    switch event {
    case .unknownTypes(let types):
      self.init("signal.unknown", ("types", .string(types.map(\.rawValue).joined(separator: ","))))
    case .network(let status):
      self.init(status)
    case .trigger(let trigger, let decision):
      self.init("trigger", ("is", .string("\(trigger)")))
      fields += Self.fields(of: decision)
    case .started(let triggers):
      self.init("sync.started", ("for", Self.names(triggers)))
    case .finished(_, let outcome):
      self.init(outcome)
    case .cleanedUp(nil):
      return nil
    case .cleanedUp(let error?):
      self.init("cleaned-up", ("outcome", "failed"))
      fields += Self.fields(of: error)
      isWarning = true
    case .submitted(let request, let earliest):
      self.init(
        "background.asked", ("for", .string(request.kind.rawValue)), ("not-before", .string(earliest.inUTC)))
    case .notSubmitted(let request, let error):
      self.init(
        "background.refused", ("for", .string(request.kind.rawValue)), ("error", .string("\(error)")))
      isWarning = true
    case .expired(let kind):
      self.init("background.expired", ("for", .string(kind.rawValue)))
    }
  }

  /// The end of a sync.
  package init(_ outcome: SyncOutcome) {
    self.init("sync.finished")
    fields += Self.fields(of: outcome)
    isWarning = outcome.needsAttention
  }

  private static func names(_ triggers: [SyncTrigger]) -> JSON {
    .string(triggers.map(\.description).joined(separator: ","))
  }

  private static func fields(of decision: SyncDecision) -> [(key: String, value: JSON)] {
    switch decision {
    case .ignored(let reason): [("decision", "ignored")] + fields(of: reason)
    case .planned(let next): [("decision", "planned")] + fields(of: next)
    case .joined(let next): [("decision", "joined")] + fields(of: next)
    case .follows: [("decision", "follows")]
    }
  }

  private static func fields(of reason: SyncDecision.Reason) -> [(key: String, value: JSON)] {
    switch reason {
    case .offline: [("because", "offline")]
    case .firstSyncIncomplete: [("because", "first-sync-incomplete")]
    case .fresh(let until): [("because", "fresh"), ("until", .string(until.inUTC))]
    case .remotePause(let until): [("because", "remote-pause"), ("until", .string(until.inUTC))]
    }
  }

  private static func fields(of next: NextSync) -> [(key: String, value: JSON)] {
    var fields: [(key: String, value: JSON)] = [("start", .string(next.at.inUTC))]
    switch next.waitsFor {
    case nil: break
    case .settling: fields.append(("waits-for", "network-to-settle"))
    case .gathering: fields.append(("waits-for", "more-signals"))
    case .rateLimit: fields.append(("waits-for", "rate-limit"))
    case .failures(let count):
      fields += [("waits-for", "pause-after-failures"), ("failures", .integer(count))]
    case .remotePause: fields.append(("waits-for", "remote-pause"))
    }
    return fields
  }

  private static func fields(of outcome: SyncOutcome) -> [(key: String, value: JSON)] {
    switch outcome {
    case .completed(let result):
      [("outcome", result.failures.isEmpty ? "completed" : "partly")] + fields(of: result)
    case .stopped(let result): [("outcome", "stopped")] + fields(of: result)
    case .unavailable(let error): [("outcome", "unavailable")] + fields(of: error)
    case .failed(let error): [("outcome", "failed")] + fields(of: error)
    }
  }

  private static func fields(of error: SyncError) -> [(key: String, value: JSON)] {
    [("code", .string(error.code.description)), ("error", .string("\(error)"))]
  }

  private static func fields(of result: SyncResult) -> [(key: String, value: JSON)] {
    let seconds = JSON.double((result.duration / .seconds(1) * 1000).rounded() / 1000)
    let total = result.total
    return [("seconds", seconds)]
      + SyncCounts.names.filter { $0.value(total) != 0 }
      .map { (key: $0.name, value: .integer($0.value(total))) }
      + PushCounts.names.filter { $0.value(result.pushed) != 0 }
      .map { (key: "push-\($0.name)", value: .integer($0.value(result.pushed))) }
  }
}

extension SyncOutcome {
  /// Whether a person should look at it: a failure, of all or of some types.
  var needsAttention: Bool {
    switch self {
    case .completed(let result): !result.failures.isEmpty || !result.refusedSweeps.isEmpty
    case .stopped, .unavailable: false
    case .failed: true
    }
  }
}
