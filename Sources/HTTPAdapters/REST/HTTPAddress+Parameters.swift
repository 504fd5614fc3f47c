extension HTTPAddress {
  /// The path and the query.
  var target: String { "\(path)\(query.map { "?\($0)" } ?? "")" }

  /// The values of the query's parameters, as written.
  var parameters: [String: String] {
    var parameters: [String: String] = [:]
    for part in (query ?? "").split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      parameters[String(pair[0])] = pair.count > 1 ? String(pair[1]) : ""
    }
    return parameters
  }

  /// Whether a link from another page leads here by counting pages or records.
  ///
  /// Only parameters with numbers differ, one of which grew by 1 or by the records of the page.
  func counts(from other: HTTPAddress, rows: Int) -> Bool {
    let (mine, before) = (parameters, other.parameters)
    var hasCounted = false
    for name in Set(mine.keys).union(before.keys) where mine[name] != before[name] {
      guard let number = mine[name].flatMap({ Int($0) }) else { return false }
      guard let text = before[name] else {
        // The first page may have no number.
        hasCounted = hasCounted || number <= 2 || number == rows
        continue
      }
      guard let earlier = Int(text) else { return false }
      let (step, overflow) = number.subtractingReportingOverflow(earlier)
      hasCounted = hasCounted || (!overflow && (step == 1 || step == rows))
    }
    return hasCounted
  }
}
