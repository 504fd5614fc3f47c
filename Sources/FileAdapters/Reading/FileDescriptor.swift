#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// A regular file, open for reading as long as this object exists.
///
/// Reads stay with the opened file, even when another file takes its name.
final class FileDescriptor: Sendable {
  private let number: CInt

  /// The attributes that show a modification without reading the file.
  struct Stamp: Hashable, Sendable {
    var size: Int
    var seconds: Int
    var nanoseconds: Int
  }

  /// Why a file could not be opened or read.
  enum Failure: Error, Hashable {
    case missing
    case notAFile
    case forbidden
    /// The file ends before an offset that existed.
    case shortened
    /// Any other failure, in the system's words.
    case other(String)
  }

  /// Opens a file for reading.
  init(path: String) throws(Failure) {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer.
    let number = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else { throw Self.failure(errno) }
    var status = stat()
    guard fstat(number, &status) == 0 else {
      let code = errno
      close(number)
      throw Self.failure(code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(number)
      throw .notAFile
    }
    self.number = number
  }

  deinit { close(number) }

  /// The file's size and modification time now.
  func stamp() throws(Failure) -> Stamp {
    var status = stat()
    guard fstat(number, &status) == 0 else { throw Self.failure(errno) }
    #if canImport(Darwin)
      let time = status.st_mtimespec
    #else
      let time = status.st_mtim
    #endif
    return Stamp(size: Int(status.st_size), seconds: Int(time.tv_sec), nanoseconds: Int(time.tv_nsec))
  }

  /// Reads this many bytes from an offset, or fewer if the file ends before.
  func read(_ count: Int, at offset: Int) throws(Failure) -> [UInt8] {
    var failure: Failure?
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(Failure) {
        filled = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Fills a buffer from an offset, and returns the number of bytes read.
  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(Failure) -> Int {
    var filled = 0
    while filled < buffer.count, let base = buffer.baseAddress {
      let count = pread(number, base + filled, buffer.count - filled, off_t(offset + filled))
      if count == 0 { break }
      if count > 0 {
        filled += count
      } else if errno != EINTR {
        throw Self.failure(errno)
      }
    }
    return filled
  }

  /// The canonical path of a directory, without links and dots; `nil` if there is none.
  static func canonicalPath(ofDirectory path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
      let resolved = realpath(path, nil)
    else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func failure(_ code: CInt) -> Failure {
    switch code {
    case ENOENT, ENOTDIR: .missing
    case EACCES, EPERM: .forbidden
    case EISDIR, ENXIO: .notAFile
    default: .other(String(cString: strerror(code)))
    }
  }
}
