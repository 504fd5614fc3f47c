package import CanonicalSync

extension SyncError {
  /// The object of `--json` after a failure, without counts.
  package var json: JSON {
    [
      "error": .string(code.description), "message": .string(message),
      "peakBytes": .integer(PeakMemory.bytes),
    ]
  }

  /// Reports the failure on standard error, and as an object if requested.
  ///
  /// The report follows all earlier output.
  ///
  /// - Parameter words: A text in place of the description.
  package func tell(by tool: String, _ words: String? = nil, isJSON: Bool) {
    StandardStream.output.flush()
    StandardStream.error.line("\(tool): \((words ?? description).shown())", in: .bad)
    if code == .storeUnreadable, !message.contains("sync-inspect") {
      StandardStream.error.line(
        "`sync-inspect verify` tells what is damaged, and `sync-inspect salvage` makes a new store of it.")
    }
    if isJSON { StandardStream.output.line(json) }
  }
}
