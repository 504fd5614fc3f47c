package import CanonicalSync

extension SyncError {
  /// What the object of `--json` says where there are no counts.
  package var json: JSON {
    [
      "error": .string(code.description), "message": .string(message),
      "peakBytes": .integer(PeakMemory.bytes),
    ]
  }
}
