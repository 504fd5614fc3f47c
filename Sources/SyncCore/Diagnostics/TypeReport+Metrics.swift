import SyncModels

extension TypeReport {
  /// The report as numbers under stable names, for a metrics system to collect.
  ///
  /// For a type `games` the names are `type.games.successes`, `type.games.failures`,
  /// `type.games.consecutiveFailures`, `type.games.live`, `type.games.pending`,
  /// `type.games.refused`, `type.games.withheld.<kind>` for each kind that occurs, and, once they
  /// are known, `type.games.successRate` (0 to 1) and `type.games.age.seconds`.
  public var metrics: [String: Double] {
    var metrics: [String: Double] = [
      "successes": Double(status.successes), "failures": Double(status.failures),
      "consecutiveFailures": Double(status.consecutiveFailures), "live": Double(live),
      "pending": Double(pending), "refused": Double(refused),
    ]
    metrics["successRate"] = status.successRate
    metrics["age.seconds"] = dataAge?.inSeconds
    for (kind, count) in withheld { metrics["withheld.\(kind.rawValue)"] = Double(count) }
    return Dictionary(uniqueKeysWithValues: metrics.map { ("type.\(type).\($0.key)", $0.value) })
  }
}
