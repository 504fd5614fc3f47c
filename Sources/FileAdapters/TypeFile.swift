import SyncModels

/// The file of one record type: where it is, and what its failures mean to a sync.
struct TypeFile: Sendable {
  /// The file's name, which is all that people are told of its place.
  let name: String
  private let directory: String

  /// Finds the file of a type.
  init(_ type: RecordType, in directory: String) throws(SyncError) {
    // Types are checked when they are declared; a request made by hand could name its way out of the directory.
    guard !type.rawValue.isEmpty, !type.rawValue.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    else {
      throw SyncError(
        .invalidConfiguration, during: "opening a file of records", "\"\(type)\" is no name of a file.")
    }
    name = "\(type).ndjson"
    self.directory = directory
  }

  /// Opens the file, and tells what it looks like before anything of it is read.
  func open() throws(FileDescriptor.Failure) -> (FileDescriptor, FileDescriptor.Stamp) {
    let file = try FileDescriptor(path: "\(directory)/\(name)")
    return (file, try file.stamp())
  }

  /// Opens the file, or returns `nil` where its absence is no loss: nobody has ever seen anything in it.
  func open(
    unlessNeverSeenBy token: SyncToken?
  ) throws(FileDescriptor.Failure) -> (FileDescriptor, FileDescriptor.Stamp)? {
    do {
      return try open()
    } catch .missing where isAbsenceHarmless(to: token) {
      return nil
    } catch {
      throw error
    }
  }

  private func isAbsenceHarmless(to token: SyncToken?) -> Bool {
    guard directoryIsThere else { return false }
    return token == nil || token == ContentName.absent.token || token == ContentName.empty.token
  }

  private var directoryIsThere: Bool { FileDescriptor.canonicalPath(ofDirectory: directory) != nil }

  /// What a failure means to the sync.
  func error(_ failure: FileDescriptor.Failure) -> SyncError {
    let operation = "reading \(name)"
    switch failure {
    case .missing where !directoryIsThere:
      return SyncError(
        .remoteUnavailable, during: operation,
        "The directory \(directory) is gone; what was synced stays.")
    case .missing:
      return SyncError(
        .inconsistentData, during: operation,
        "\(name) is gone; what was synced stays. Put it back (an empty file says that everything was deleted)."
      )
    case .notAFile:
      return SyncError(
        .inconsistentData, during: operation, "\(name) is not a regular file; put a file in its place.")
    case .forbidden:
      return SyncError(
        .permissionDenied, during: operation, "\(name) may not be read; allow this user to read it.")
    case .shortened:
      return SyncError(.remoteUnavailable, during: operation, "\(name) became shorter while it was read.")
    case .other(let words):
      return SyncError(.remoteUnavailable, during: operation, "\(name) cannot be read: \(words).")
    }
  }
}
