import SyncJSON
import SyncModels

extension PassOutcomes: SpelledOut {
  /// The JSON that the generic encoder would write; `nil` after a failure.
  package var json: [UInt8]? {
    guard lastError == nil else { return nil }
    var members: [String] = []
    if let lastSuccess { members.append("\"lastSuccess\":\(lastSuccess.microseconds)") }
    if let lastAttempt { members.append("\"lastAttempt\":\(lastAttempt.microseconds)") }
    members.append("\"consecutiveFailures\":\(consecutiveFailures)")
    members.append("\"successes\":\(successes),\"failures\":\(failures)")
    return Array("{\(members.joined(separator: ","))}".utf8)
  }

  /// Reads the form of ``json``.
  package init?(json: [UInt8]) {
    var counts: (consecutive: Int?, successes: Int?, failures: Int?)
    var read = PassOutcomes()
    let isWhole = json[...].members { name, value in
      switch name {
      case "lastSuccess": Self.take(value.timestamp, into: &read.lastSuccess)
      case "lastAttempt": Self.take(value.timestamp, into: &read.lastAttempt)
      case "consecutiveFailures": Self.take(value.count(), into: &counts.consecutive)
      case "successes": Self.take(value.count(), into: &counts.successes)
      case "failures": Self.take(value.count(), into: &counts.failures)
      default: false
      }
    }
    guard isWhole, let consecutive = counts.consecutive, let successes = counts.successes,
      let failures = counts.failures
    else { return nil }
    read.consecutiveFailures = consecutive
    (read.successes, read.failures) = (successes, failures)
    self = read
  }
}
