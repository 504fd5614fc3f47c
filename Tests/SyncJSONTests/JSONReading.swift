import SyncJSON

/// Whether bytes are one JSON value.
func accepts(_ bytes: [UInt8]) -> Bool {
  do throws(JSONError) {
    try JSONScanner.validate(bytes[...])
    return true
  } catch {
    return false
  }
}

/// The error for invalid bytes; `nil` for valid ones.
func refusal(of bytes: [UInt8], depthLimit: Int = JSONScanner.defaultDepthLimit) -> JSONError? {
  do throws(JSONError) {
    try JSONScanner.validate(bytes[...], depthLimit: depthLimit)
    return nil
  } catch {
    return error
  }
}

/// The value of a text.
func value(_ text: String) throws -> JSONValueSlice {
  try JSONValueSlice(checking: Array(text.utf8)[...])
}
