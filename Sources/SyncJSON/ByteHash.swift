extension String {
  /// Hashes a string by its UTF-8 bytes.
  ///
  /// What compares by bytes has to hash by them too. `String` hashes canonically equivalent strings
  /// alike, and there can be hundreds of thousands of them: a dictionary of such keys would take
  /// quadratic time.
  package func hashUTF8(into hasher: inout Hasher) {
    let isDone: Void? = utf8.withContiguousStorageIfAvailable {
      hasher.combine(bytes: UnsafeRawBufferPointer($0))
    }
    // Strings from Objective-C have no contiguous storage.
    if isDone == nil { ContiguousArray(utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
  }
}
