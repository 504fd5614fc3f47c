import SyncModels

/// The file of one record type, and the errors for its failures.
struct TypeFile: Sendable {
  /// The file's name, the only part of its path in messages.
  let name: String
  private let directory: String

  /// Finds the file of a type.
  init(_ type: RecordType, in directory: String) throws(SyncError) {
    // Declaring a type checks its name. A hand-made request could contain a name that leads out of
    // the directory.
    guard !type.rawValue.isEmpty, !type.rawValue.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == 0 })
    else {
      throw SyncError(
        .invalidConfiguration, during: "opening a file of records", "\"\(type)\" is not a valid file name.")
    }
    name = "\(type).ndjson"
    self.directory = directory
  }

  /// Opens the file, and returns its stamp from before any reading.
  func open() throws(FileDescriptor.Failure) -> (FileDescriptor, FileDescriptor.Stamp) {
    let file = try FileDescriptor(path: "\(directory)/\(name)")
    return (file, try file.stamp())
  }

  /// Opens the file, or returns `nil` if it is missing and that loses nothing.
  func open(
    mayBeMissing: Bool
  ) throws(FileDescriptor.Failure) -> (FileDescriptor, FileDescriptor.Stamp)? {
    do {
      return try open()
    } catch .missing where mayBeMissing && directoryIsThere {
      return nil
    } catch {
      throw error
    }
  }

  private var directoryIsThere: Bool { FileDescriptor.canonicalPath(ofDirectory: directory) != nil }

  /// The error for a failure.
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
        "\(name) is missing; what was synced stays. Put it back, or an empty file, which says that there are no records."
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

/// Converts the lines of one page to changes.
struct LineReader {
  private let reader: RecordReader
  private let request: PageRequest
  private let name: String

  /// Creates a reader for a page of a file.
  init(_ request: PageRequest, of file: TypeFile) {
    self.request = request
    name = file.name
    reader = RecordReader(request.entity, layout: RecordLayout(modifiedAt: "updated_at", requiresTime: false))
  }

  /// The record of a line, or a malformed record with the reason.
  func change(of line: FileReading.Line, number: Int) -> RecordChange {
    switch line {
    case .whole(let bytes):
      // The pass number makes each scan's copies newer than the previous scan's, whatever their
      // times say.
      return reader.read(bytes, sequence: request.pass, location: location(number))
    case .tooLong(let prefix, let length):
      return .malformed(
        MalformedRecord(
          type: request.entity.type, bytes: Payload(prefix).detached(),
          reason: "has \(Counted(length, "byte")), too many for a record; only the beginning is kept",
          location: location(number)))
    }
  }

  private func location(_ number: Int) -> String { "\(name), line \(number)" }
}
