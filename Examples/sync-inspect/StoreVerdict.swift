import CanonicalSync
import CanonicalSyncToolSupport
import SyncAdapters

/// What a person should know of a store at first: whether all is well, and what to do.
struct StoreVerdict: Hashable {
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

  /// Judges a store by the reports on its types, and by its last sync.
  init(_ reports: [TypeStatus], lastSync: PastSync?, at now: Timestamp) {
    let types = Counted(reports.count, "type")
    guard !reports.isEmpty else {
      (sentence, advice, ink) = ("The store has no types yet: nothing was synced into it.", [], .warning)
      return
    }
    let failing = reports.filter { $0.passes.lastError != nil }
    // A failure that ended the whole sync may have reached no type.
    let wholeFailure = lastSync.flatMap { Self.failure(of: $0, at: now) }
    let problems =
      (wholeFailure.map { [$0] } ?? []) + failing.map { Self.failure($0, at: now) }
      + reports.compactMap(Self.refusedSweep)
    let waits = Self.waits(reports)
    advice = problems + waits
    let oldest = reports.leastFresh?.passes.lastSuccess
    let freshness = oldest.map { "all \(types) were up to date \($0.ago(at: now))" }
    let never = reports.filter { $0.passes.lastSuccess == nil }.map(\.type.rawValue)
    if !problems.isEmpty {
      sentence =
        if !failing.isEmpty {
          "\(failing.count) of \(types) failed."
        } else {
          wholeFailure == nil ? "A sweep needs permission." : "The last sync failed."
        }
      ink = .bad
    } else if let freshness {
      sentence = waits.isEmpty ? "All is well: \(freshness)." : "Mostly well: \(freshness)\(Self.bridge)"
      ink = waits.isEmpty ? .good : .warning
    } else {
      sentence = "Never synced completely: \(never.joined(separator: ", "))."
      ink = .warning
    }
  }

  private static func failure(_ report: TypeStatus, at now: Timestamp) -> String {
    let error = report.passes.lastError
    let times = Counted(report.passes.consecutiveFailures, "time")
    return
      "\(report.type) failed \(times.grouped): \(error?.message ?? "")\(retry(report.nextRetry, at: now))"
  }

  private static func failure(of sync: PastSync, at now: Timestamp) -> String? {
    guard sync.outcome == .failed, let failure = sync.failure else { return nil }
    return "sync \(sync.number) failed as a whole: \(failure.message)\(retry(failure.retryAt, at: now))"
  }

  private static func retry(_ instant: Timestamp?, at now: Timestamp) -> String {
    instant.map { $0 > now ? "; not tried again before \($0.spelled)" : "" } ?? ""
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

  private static func waits(_ reports: [TypeStatus]) -> [String] {
    func sum(_ kinds: WithheldChange.Kind...) -> Int {
      reports.reduce(0) { sum, report in sum + kinds.reduce(0) { $0 + (report.withheld[$1] ?? 0) } }
    }
    let refused = reports.reduce(0) { $0 + $1.refused }
    var lines: [String] = []
    func add(_ count: Int, _ one: String, _ others: String, _ advice: String) {
      if count > 0 { lines.append("\(Counted(count, one, others).grouped)\(advice)") }
    }
    add(refused, "edit was refused", "edits were refused", " by the remote: see `sync-inspect outbox`.")
    add(sum(.quarantined), "record is malformed", "records are malformed", ": see `sync-inspect quarantine`.")
    add(sum(.incompatible), "record needs", "records need", " a newer version of the app.")
    add(sum(.parked), "record waits", "records wait", " for records that they refer to.")
    add(sum(.held), "deletion waits", "deletions wait", " until nothing refers to the record.")
    return lines
  }
}

extension [TypeStatus] {
  /// The type that was up to date the longest time ago, or never.
  var leastFresh: TypeStatus? {
    self.min { ($0.passes.lastSuccess ?? .distantPast) < ($1.passes.lastSuccess ?? .distantPast) }
  }
}
