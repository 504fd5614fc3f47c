import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters

/// What a person should know of a store at first: whether all is well, and what to do.
struct StoreVerdict: Hashable {
  /// What the verdict is about, as of one instant.
  struct Evidence: Sendable {
    /// The state of each type.
    var types: [TypeStatus] = []
    /// The last syncs, the latest first.
    var syncs: [PastSync] = []
    /// The place where the store has moved; `nil` for a store in use.
    var movedTo: String?
    /// The age from which data and edits are too old; `nil` to go by the usual interval.
    var staleAfter: Duration?
    /// When the store was read.
    var now: Timestamp
  }

  /// Whether all is well, in one sentence.
  let sentence: String
  /// The sentence alone, where the advice does not follow at once.
  var headline: String {
    sentence.hasSuffix(Self.bridge) ? sentence.dropLast(Self.bridge.count) + "." : sentence
  }

  private static let bridge = ", but:"

  /// What is wrong or waits, and what to do about it, the most urgent first.
  let advice: [String]
  /// How serious it is.
  let ink: Ink

  /// Judges a store.
  init(_ evidence: Evidence) {
    let (reports, now) = (evidence.types, evidence.now)
    let types = Counted(reports.count, "type")
    if let place = evidence.movedTo {
      let unsent = reports.reduce(0) { $0 + $1.pending }
      sentence = "This store has moved to \(place), and takes no edits and no syncs."
      advice =
        ["Use the store at \(place)."]
        + (unsent == 0
          ? [] : ["\(Counted(unsent, "edit").grouped) of its outbox went along, and leave from there."])
      ink = .bad
      return
    }
    guard !reports.isEmpty else {
      (sentence, advice, ink) = ("The store has no types yet: nothing was synced into it.", [], .warning)
      return
    }
    let failing = reports.filter { $0.passes.lastError != nil }
    // A failure that ended the whole sync may have reached no type.
    let wholeFailure = evidence.syncs.first.flatMap { Self.failure(of: $0, at: now) }
    let damage = Self.damage(evidence)
    let problems =
      damage + (wholeFailure.map { [$0] } ?? []) + failing.map { Self.failure($0, at: now) }
      + reports.compactMap(Self.refusedSweep)
    let limit = evidence.limit
    let stale = Self.stale(evidence, limit)
    let running = evidence.syncs.first.flatMap { $0.outcome == .running ? $0.began : nil }
    let isLate = running.map { now.duration(since: $0) > limit } ?? false
    let waits =
      Self.unsent(reports, limit, at: now) + Self.waits(reports) + Self.killed(evidence)
      + (isLate
        ? ["The last sync began \(running?.ago(at: now) ?? ""), and has not ended: was it killed?"] : [])
    advice = problems + stale + waits
    let oldest = reports.leastFresh?.passes.lastSuccess
    let runs = running.map { isLate ? "" : "; a sync began \($0.ago(at: now))" } ?? ""
    let all = reports.count == 1 ? "the one type was" : "all \(types) were"
    let freshness = oldest.map { "\(all) up to date \($0.ago(at: now))\(runs)" }
    let never = reports.filter { $0.passes.lastSuccess == nil }.map(\.type.rawValue)
    if !problems.isEmpty {
      sentence =
        if !damage.isEmpty {
          "The last sync met damage in the store."
        } else if !failing.isEmpty {
          "\(failing.count) of \(types) failed."
        } else {
          wholeFailure == nil ? "A sweep needs permission." : "The last sync failed."
        }
      ink = .bad
    } else if let freshness, stale.isEmpty {
      sentence = waits.isEmpty ? "All is well: \(freshness)." : "Mostly well: \(freshness)\(Self.bridge)"
      ink = waits.isEmpty ? .good : .warning
    } else if let oldest {
      sentence = "The data are old: the least fresh type was up to date \(oldest.ago(at: now))."
      ink = .bad
    } else if let running, never.count == reports.count {
      sentence = "The first sync has not ended; it began \(running.ago(at: now))."
      ink = .warning
    } else {
      sentence = "Never synced completely: \(never.joined(separator: ", "))."
      ink = .warning
    }
  }

  // MARK: Problems

  private static func failure(_ report: TypeStatus, at now: Timestamp) -> String {
    let error = report.passes.lastError
    let times = Counted(report.passes.consecutiveFailures, "time")
    return
      "\(report.type) failed \(times.grouped): "
      + sentence(error?.message ?? "", retry(report.nextRetry, at: now)) + remedy(error?.code)
  }

  private static func failure(of sync: PastSync, at now: Timestamp) -> String? {
    guard sync.outcome == .failed, let failure = sync.failure else { return nil }
    return
      "sync \(sync.number) failed as a whole: "
      + sentence(failure.message, retry(failure.retryAt, at: now)) + remedy(failure.code)
  }

  /// A message with an addition, as one sentence with one full stop.
  private static func sentence(_ message: String, _ addition: String) -> String {
    let isEnded = message.hasSuffix(".")
    if addition.isEmpty { return isEnded ? message : message + "." }
    return (isEnded ? String(message.dropLast()) : message) + addition + "."
  }

  private static func retry(_ instant: Timestamp?, at now: Timestamp) -> String {
    instant.map { $0 > now ? "; not tried again before \($0.spelled)" : "" } ?? ""
  }

  private static func remedy(_ code: String?) -> String {
    code.flatMap { Remedy.words(for: $0) }.map { " What to do: \($0)." } ?? ""
  }

  /// The codes of failures that damage of the store causes.
  private static let damageCodes: Set<String> = [
    SyncError.Code.storeUnreadable.description, SyncError.Code.inconsistentData.description,
  ]

  /// What to do about damage that the last sync or a type's last pass met.
  private static func damage(_ evidence: Evidence) -> [String] {
    let last = evidence.syncs.first
    let failures =
      [last?.failure] + (last?.typeFailures.map(\.failure) ?? []) + evidence.types.map(\.passes.lastError)
    guard failures.contains(where: { $0.map { damageCodes.contains($0.code) } ?? false }) else { return [] }
    return ["The store may be damaged: `sync-inspect verify` finds out, and `sync-inspect salvage` mends it."]
  }

  private static func refusedSweep(_ report: TypeStatus) -> String? {
    guard let sweep = report.sweep else { return nil }
    switch sweep.refusal {
    case nil:
      return nil
    case .massDeletion(let missing, let live)?:
      return "\(report.type): the listing of pass \(sweep.pass) lacked \(missing.grouped) of "
        + "\(Counted(live, "record").grouped); to remove that many, sync with --allow-mass-deletion."
    case .unidentifiedMalformed(let count)?:
      let entries = Counted(count, "entry", "entries").grouped
      return "\(report.type): \(entries) of the listing of pass \(sweep.pass) could not be read; nothing is "
        + "removed until it is known which \(Counted(count, "record it is", "records they are").words): see "
        + "`sync-inspect quarantine`."
    }
  }

  // MARK: Age

  /// The types whose data are too old, each in a sentence.
  private static func stale(_ evidence: Evidence, _ limit: Duration) -> [String] {
    let usual = evidence.staleAfter == nil ? evidence.usualInterval : nil
    let words =
      usual.map { "a sync is usual every \($0.roughly)" } ?? "older than \(limit.roughly) counts as old"
    return evidence.types.compactMap { report in
      guard let age = report.dataAge, age > limit else { return nil }
      return
        "\(report.type) was up to date \(age.roughly) ago (\(words)): sync, or find out why nothing does."
    }
  }

  /// The edits that wait too long, in a sentence. Refused ones are told of in another.
  private static func unsent(_ reports: [TypeStatus], _ limit: Duration, at now: Timestamp) -> [String] {
    let late = reports.filter { $0.pending > $0.refused && $0.outboxAge ?? .zero > limit }
    guard let age = late.compactMap(\.outboxAge).max() else { return [] }
    let count = late.reduce(0) { $0 + $1.pending - $1.refused }
    let edits = Counted(count, "edit waits", "edits wait").grouped
    return ["\(edits) to be pushed, the oldest for \(age.roughly): push them; see `sync-inspect outbox`."]
  }

  /// The last of the latest syncs whose process was killed.
  private static func killed(_ evidence: Evidence) -> [String] {
    guard let sync = evidence.syncs.prefix(3).first(where: { $0.outcome == .killed }) else { return [] }
    return [
      "Sync \(sync.number), which began \(sync.began.ago(at: evidence.now)), was killed, and the next one went on from there: find out what ended its process."
    ]
  }

  private static func waits(_ reports: [TypeStatus]) -> [String] {
    func sum(_ kinds: WithheldChange.Kind...) -> Int {
      reports.reduce(0) { sum, report in sum + kinds.reduce(0) { $0 + (report.withheld[$1] ?? 0) } }
    }
    let refused = reports.reduce(0) { $0 + $1.refused }
    var lines: [String] = []
    func add(_ count: Int, _ one: String, _ others: String, _ advice: String) {
      if count > 0 { lines.append("\(Counted(count, one, others).grouped)\(advice)") }
    }
    add(refused, "edit was refused", "edits were refused", ": see `sync-inspect outbox`.")
    add(sum(.quarantined), "record is malformed", "records are malformed", ": see `sync-inspect quarantine`.")
    add(sum(.incompatible), "record needs", "records need", " a newer version of the app.")
    add(
      sum(.parked), "record waits for one that it refers to", "records wait for others that they refer to",
      ": see `sync-inspect waiting`.")
    add(sum(.held), "deletion waits", "deletions wait", " until nothing refers to the record.")
    return lines
  }
}

extension StoreVerdict.Evidence {
  /// The usual time between two syncs: the median of the last twenty; `nil` for fewer than three syncs.
  var usualInterval: Duration? {
    let begins = syncs.prefix(21).map(\.began)
    let gaps = zip(begins, begins.dropFirst()).map { $0.duration(since: $1) }.filter { $0 > .zero }.sorted()
    return gaps.count < 2 ? nil : gaps[gaps.count / 2]
  }

  /// The age from which data and edits are too old.
  ///
  /// It is six of the usual intervals, and at least an hour; a day as long as none is known.
  fileprivate var limit: Duration {
    staleAfter ?? usualInterval.map { max($0 * 6, .seconds(3600)) } ?? .seconds(86_400)
  }
}

extension StoreVerdict {
  /// The members that every `--json` has of a verdict.
  var members: [(key: String, value: JSON)] {
    [
      ("isWell", .bool(ink == .good)), ("verdict", .string(headline)),
      ("advice", .array(advice.map { .string($0) })),
    ]
  }
}

extension LocalStore {
  /// The place where the store has moved; `nil` for a store in use, or of a kind that does not move.
  func placeMovedTo() async throws(SyncError) -> String? {
    try await (self as? any MovableStore)?.placeMovedTo()
  }
}

extension [TypeStatus] {
  /// The type that was up to date the longest time ago, or never.
  var leastFresh: TypeStatus? {
    self.min { ($0.passes.lastSuccess ?? .distantPast) < ($1.passes.lastSuccess ?? .distantPast) }
  }
}
