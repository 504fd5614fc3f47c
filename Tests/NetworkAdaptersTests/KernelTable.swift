#if os(Linux)
  import Foundation

  /// One of the kernel's tables, which are files that do not know their length: a string made of one would have its beginning alone.
  func kernelTable(_ path: String) throws -> [Substring] {
    let file = try FileHandle(forReadingFrom: URL(filePath: path))
    defer { try? file.close() }
    return try String(decoding: file.readToEnd() ?? Data(), as: UTF8.self).split(separator: "\n")
  }
#endif
