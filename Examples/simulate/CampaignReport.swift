import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import SyncAdapters
import SyncCore
import SyncSimulation

/// The report on many worlds.
struct CampaignReport {
  private let campaign: Campaign
  private let duration: Duration
  private let isSweep: Bool
  private let wasStopped: Bool
  private let showsCounters: Bool

  init(_ campaign: Campaign, took duration: Duration, isSweep: Bool, wasStopped: Bool, showsCounters: Bool) {
    self.showsCounters = showsCounters
    self.wasStopped = wasStopped
    self.campaign = campaign
    self.duration = duration
    self.isSweep = isSweep
  }

  private var seconds: Double { duration / .seconds(1) }

  func print() {
    let output = StandardStream.output
    output.line(
      "\(Counted(campaign.worlds, "world").grouped), \(Counted(campaign.steps, "step").grouped), in \(String(format: "%.1f", seconds)) s; "
        + "\(campaign.failures.count) broke a promise\(wasStopped ? "; stopped before the end" : "").")
    if showsCounters {
      output.line("")
      let rows: [[TextTable.Cell]] = Sight.allCases.map { sight in
        [.text(sight.rawValue), .number(campaign.sights[sight, default: 0])]
      }
      output.line(TextTable(["what was seen", "times"], rows: rows).text(fitting: output.width))
    } else {
      let seen = Sight.allCases.count { campaign.sights[$0, default: 0] > 0 }
      output.line("\(seen) of \(Sight.allCases.count) events were seen; --counters prints how often.")
    }
    if !campaign.unseen.isEmpty, !isSweep {
      output.line("")
      output.line("Never seen: \(campaign.unseen.map(\.rawValue).joined(separator: ", ")). Try more worlds.")
    }
  }

  /// The counts.
  ///
  /// - Parameter kept: The path of the first failed world, if it was saved.
  func json(kept: String?) -> JSON {
    let failures = campaign.failures.sorted { $0.seed < $1.seed }
    return .object([
      ("worlds", .integer(campaign.worlds)), ("steps", .integer(campaign.steps)),
      ("hash", .string(String(campaign.hash, radix: 16))), ("seconds", .double(seconds)),
      ("wasStopped", .bool(wasStopped)),
      ("failures", .integer(failures.count)),
      (
        "broken", .array(failures.map { .object([("seed", .unsigned($0.seed))] + $0.outcome.brokenPromises) })
      ),
      ("kept", kept.map { .string($0) } ?? .null),
      ("unseen", .array(campaign.unseen.map { .string($0.rawValue) })),
      (
        "sights",
        .object(Sight.allCases.map { ($0.rawValue, .integer(campaign.sights[$0, default: 0])) })
      ),
    ])
  }
}
