import SyncModels

/// Checks that an operation fails with a code.
func expect(
  _ code: SyncError.Code, _ sentence: @autoclosure () -> String,
  from operation: () async throws(SyncError) -> Void
) async throws(ConformanceFailure) {
  do {
    try await operation()
  } catch {
    return try expect(error.code, equals: code, sentence())
  }
  throw ConformanceFailure("\(sentence()) No error was thrown; \(code) was due.")
}
