import SyncJSON

/// Tells whether bytes are one JSON value.
func accepts(_ bytes: [UInt8]) -> Bool {
  do throws(JSONError) {
    try JSONScanner.validate(bytes[...])
    return true
  } catch {
    return false
  }
}

/// The error that bytes are refused with, if they are.
func refusal(of bytes: [UInt8], depthLimit: Int = JSONScanner.defaultDepthLimit) -> JSONError? {
  do throws(JSONError) {
    try JSONScanner.validate(bytes[...], depthLimit: depthLimit)
    return nil
  } catch {
    return error
  }
}

/// The value that a text is.
func value(_ text: String) throws -> JSONValueSlice {
  try JSONValueSlice(checking: Array(text.utf8)[...])
}
