#if os(Linux)
  import Foundation

  /// The lines of one of the kernel's tables.
  ///
  /// These files do not know their length: reading one as a string would give only its beginning.
  func kernelTable(_ path: String) throws -> [Substring] {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? file.close() }
    return try String(decoding: file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
  }
#endif
