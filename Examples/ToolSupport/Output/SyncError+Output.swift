package import CanonicalSync

extension SyncError {
  /// What the object of `--json` says where there are no counts.
  package var json: JSON {
    [
      "error": .string(code.description), "message": .string(message),
      "peakBytes": .integer(PeakMemory.bytes),
    ]
  }

  /// Tells what failed: in words on standard error, behind all that was said before, and as an object where that was asked for.
  ///
  /// - Parameter words: What to say instead of the description.
  package func tell(by tool: String, _ words: String? = nil, isJSON: Bool) {
    StandardStream.output.flush()
    StandardStream.error.line("\(tool): \((words ?? description).shown())")
    if isJSON { StandardStream.output.line(json) }
  }
}
