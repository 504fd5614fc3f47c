package import CanonicalSync

extension SyncError {
  /// The object of `--json` after a failure, without counts.
  package var json: JSON {
    var members: [(key: String, value: JSON)] = [
      ("error", .string(code.description)), ("message", .string(message)),
      ("peakBytes", .integer(PeakMemory.bytes)),
    ]
    if let retryAfter {
      members.append(("retryAfterSeconds", .double(retryAfter / .seconds(1))))
    }
    if let pauseEnd { members.append(("retryAt", .string(pauseEnd))) }
    return .object(members)
  }

  /// The end of the pause that the remote asked for.
  private var pauseEnd: String? {
    retryAfter.flatMap { (Timestamp.wallClock + $0).rfc3339(fractionDigits: 0) }
  }

  /// The description, with the end of the pause.
  private var told: String { pauseEnd.map { "\(description); the pause ends at \($0)" } ?? description }

  /// What to do about a damaged store; `nil` for other errors.
  var hint: String? {
    code == .storeUnreadable && !message.contains("sync-inspect")
      ? "`sync-inspect verify` tells what is damaged, and `sync-inspect salvage` makes a new store of it."
      : nil
  }

  /// Reports the failure on standard error, and as an object if requested.
  ///
  /// The report follows all earlier output.
  ///
  /// - Parameter words: A text in place of the description.
  package func tell(by tool: String, _ words: String? = nil, isJSON: Bool) {
    StandardStream.output.flush()
    StandardStream.error.line("\(tool): \((words ?? told).shown())", in: .bad)
    if let hint { StandardStream.error.line(hint) }
    if isJSON { StandardStream.output.line(json) }
  }
}
