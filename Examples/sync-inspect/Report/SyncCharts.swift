import CanonicalSync
import CanonicalSyncPages
import Foundation
import SyncAdapters

/// The charts of a store's history, drawn at the time of writing.
struct SyncCharts {
  private let syncs: [PastSync]
  private let axis: TimeAxis?

  /// Prepares the charts of some syncs, in any order.
  init(_ syncs: [PastSync]) {
    self.syncs = syncs
    axis = TimeAxis(syncs.map(\.began))
  }

  /// A tick for each sync, by its outcome.
  var outcomes: HTML {
    guard let axis else { return "" }
    let groups = Outcome.allCases.map { outcome in (outcome, syncs.filter { Outcome($0) == outcome }) }
      .filter { !$0.1.isEmpty }
    let legend = groups.map { outcome, syncs -> HTML in
      "<li><span class=\"key \(outcome.rawValue)\"></span>\(syncs.count) \(outcome.words)</li>\n"
    }
    let summary = groups.map { "\($0.1.count) \($0.0.words)" }.joined(separator: ", ")
    let paths = groups.map { outcome, syncs -> HTML in
      let line = syncs.map { "M\(axis.place(of: $0.began)) \(outcome.top)V100" }.joined()
      return "<path class=\"\(outcome.rawValue)\" d=\"\(line)\"/>"
    }
    return """
      <figure>
      <figcaption>\(Counted(syncs.count, "sync")) over time</figcaption>
      <ul class="legend">
      \(legend)</ul>
      <div class="plot"><svg class="ticks" viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" \
      aria-label="Syncs over time: \(summary)">\(paths)</svg></div>
      \(axis.ends)</figure>

      """
  }

  /// How long syncs and requests took, and how much was fetched; `nil` without any measurement.
  var speed: HTML? {
    let charts = [
      chart("Seconds of each sync") { $0.seconds },
      chart("Seconds of each request, on average of a sync") { sync in
        let requests = sync.total("requests")
        return requests > 0 ? sync.fetchingSeconds / Double(requests) : 0
      },
      chart("Records fetched in a second, by syncs that fetched any") { sync in
        sync.seconds > 0 ? Double(sync.total("fetched")) / sync.seconds : 0
      },
    ].compactMap(\.self)
    return charts.isEmpty ? nil : HTML(charts)
  }

  /// A dot for each sync that has a positive number, on a logarithmic scale.
  private func chart(_ title: String, _ number: (PastSync) -> Double) -> HTML? {
    let points = syncs.map { ($0.began, number($0)) }.filter { $0.1 > 0 && $0.1.isFinite }
    guard let axis, let scale = LogScale(points.map(\.1)) else { return nil }
    let sorted = points.map(\.1).sorted()
    func part(_ share: Double) -> String { sorted[Int(Double(sorted.count - 1) * share)].brief }
    let summary = "median \(part(0.5)), 95 % up to \(part(0.95)), the most \(part(1))"
    let dots = points.map { "M\(axis.place(of: $0.0)) \(scale.place(of: $0.1))h0" }.joined()
    let lines = scale.decades.map { "M0 \(scale.place(of: $0))H1000" }.joined()
    let labels = scale.decades.map { decade -> HTML in
      "<span style=\"top:\(scale.place(of: decade))%\">\(decade.brief)</span>"
    }
    return """
      <figure>
      <figcaption>\(title): \(summary)</figcaption>
      <div class="plot"><div class="scale" aria-hidden="true">\(labels)</div>\
      <svg viewBox="0 0 1000 100" preserveAspectRatio="none" role="img" aria-label="\(title): \(summary)">\
      <path class="line" d="\(lines)"/><path class="dots" d="\(dots)"/></svg></div>
      \(axis.ends)</figure>

      """
  }
}

extension SyncCharts {
  /// How a sync ended, as far as a tick tells it. Later ones are drawn over earlier ones.
  enum Outcome: String, CaseIterable {
    case finished, stopped, running, partly, killed, failed

    init(_ sync: PastSync) {
      self =
        switch sync.outcome {
        case .finished: sync.typeFailures.isEmpty ? .finished : .partly
        case .stopped: .stopped
        case .running: .running
        case .failed: .failed
        case .killed: .killed
        }
    }

    /// The words after the number of syncs.
    var words: String {
      switch self {
      case .finished: "finished"
      case .stopped: "stopped on request"
      case .running: "not ended"
      case .partly: "finished, with a type that failed"
      case .killed: "killed"
      case .failed: "failed"
      }
    }

    /// Where the tick begins, from the top: trouble is tall.
    var top: Int {
      switch self {
      case .finished, .stopped, .running: 60
      case .partly: 30
      case .killed, .failed: 0
      }
    }
  }

  /// The time of the syncs, from left to right.
  struct TimeAxis {
    private let first: Timestamp
    private let last: Timestamp

    init?(_ instants: [Timestamp]) {
      guard let first = instants.min(), let last = instants.max() else { return nil }
      (self.first, self.last) = (first, last)
    }

    /// The place of an instant, 0 to 1000.
    func place(of instant: Timestamp) -> String {
      // As doubles, because the distance of two instants of a damaged store may be too great.
      let start = Double(first.microseconds)
      let span = Double(last.microseconds) - start
      return span > 0 ? ((Double(instant.microseconds) - start) / span * 1000).tenths : "500.0"
    }

    /// The first and the last instant, under a chart.
    var ends: HTML { "<p class=\"ends\">\(ReportPage.time(first)) \(ReportPage.time(last))</p>\n" }
  }

  /// A logarithmic scale, from top to bottom.
  struct LogScale {
    /// The powers of ten with a line.
    let decades: [Double]
    private let low: Double
    private let high: Double

    init?(_ values: [Double]) {
      guard let least = values.min(), let most = values.max(), least > 0, most.isFinite else { return nil }
      let low = min(14, max(-3, Foundation.log10(least).rounded(.down)))
      let high = max(low + 1, min(15, Foundation.log10(most).rounded(.up)))
      let step = ((high - low) / 4).rounded(.up)
      decades = stride(from: low, through: high, by: step).map { Foundation.pow(10, $0) }
      (self.low, self.high) = (low, high)
    }

    /// The place of a positive value, 0 at the top to 100.
    func place(of value: Double) -> String {
      (100 * min(1, max(0, 1 - (Foundation.log10(value) - low) / (high - low)))).tenths
    }
  }
}

extension Double {
  /// The number rounded to a tenth.
  fileprivate var tenths: String { String((self * 10).rounded() / 10) }

  /// The number with some three digits, for a person.
  var brief: String {
    guard isFinite else { return "?" }
    let digits: Double =
      switch magnitude {
      case 100...: 1
      case 10...: 10
      case 1...: 100
      default: 1000
      }
    let rounded = (self * digits).rounded() / digits
    if rounded == 0, self > 0 { return "< 0.001" }
    if rounded == rounded.rounded(), let whole = Int(exactly: rounded) { return whole.grouped }
    return String(rounded)
  }
}
