import Foundation
package import SyncModels

/// A file that holds one secret, such as a token with successors.
package enum SecretFile {
  /// Replaces the contents of a file, all or nothing, readable by its owner alone.
  ///
  /// A link to the file stays a link. The new contents are on the disk when the call returns, and
  /// nothing is left beside the file.
  ///
  /// - Throws: `storeFailure` if they could not be written. The file is as it was.
  package static func replace(
    _ path: String, with secret: String, during operation: String
  ) throws(SyncError) {
    let target = URL(filePath: path).resolvingSymlinksInPath().path
    let draft = "\(target).\(UUID().uuidString)"
    func refuse() -> SyncError {
      let reason = String(cString: strerror(errno))
      unlink(draft)
      return SyncError(
        .storeFailure, during: operation, "The next token could not be written to \(path): \(reason).")
    }
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw refuse() }
    let bytes = Array("\(secret)\n".utf8)
    let isWritten = write(descriptor, bytes, bytes.count) == bytes.count && fsync(descriptor) == 0
    close(descriptor)
    guard isWritten, rename(draft, target) == 0 else { throw refuse() }
    let folder = open(URL(filePath: target).deletingLastPathComponent().path, O_RDONLY | O_CLOEXEC)
    if folder >= 0 {
      fsync(folder)
      close(folder)
    }
  }
}
