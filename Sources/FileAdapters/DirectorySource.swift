public import SyncModels
public import SyncPorts
import Synchronization

/// A directory with a file of records for each type, as a remote: `games.ndjson` holds one JSON object a line.
///
/// ```swift
/// let source = try DirectorySource(directory: "schedule")
/// ```
///
/// A line's `id` is the record's key and its `updated_at` the modification time, in milliseconds since 1970. Blank lines, carriage
/// returns before newlines and a UTF-8 byte order mark are passed over; a last line without a newline counts. A line
/// that is no record, or is too long, comes as poison with the file's name and the line's number. Of lines that share an id the engine shows
/// one and sets the others aside; ``lines(of:)`` tells which lines these are.
///
/// The token is a digest of the file's content. While it is the same, nothing changed; otherwise everything is
/// listed, and a line whose bytes changed is a change whatever its `updated_at` says. A pass reads the file that it opened, even if another one
/// takes the name meanwhile, and is resumed by a later process if the content is still the same. A file whose content is
/// modified in place under the pass makes it start over.
///
/// A file that was never there is an empty listing. One that was there and is gone is an error: deleting every
/// record of a type takes an empty file.
public final class DirectorySource: RemoteRecordSource {
  /// Which data these are.
  public let identity: String
  /// Full listings of one instant, and no deltas: a changed file is listed whole.
  public let capabilities = SourceCapabilities(
    deltas: .fullOnly, sendsTombstones: false, listing: .snapshot, versions: .perScan)

  let directory: String
  let executor: FileExecutor
  let limits: FileReading.Limits
  private let passes = Mutex<[RecordType: OpenPass]>([:])

  /// Reads records from a directory.
  ///
  /// - Parameters:
  ///   - directory: The directory's path.
  ///   - identity: A name that stays the same wherever the directory is moved to; by default the directory's
  ///     canonical path, so that moved data count as other data.
  ///   - lineLimit: The most bytes that a record may have.
  ///   - executor: Where reads run.
  /// - Throws: `invalidConfiguration` if there is no such directory.
  public convenience init(
    directory: String, identity: String? = nil, lineLimit: Int = 16 << 20, executor: FileExecutor = .dispatch
  ) throws(SyncError) {
    var limits = FileReading.Limits()
    limits.lineBytes = max(1, lineLimit)
    try self.init(directory: directory, identity: identity, limits: limits, executor: executor)
  }

  init(
    directory: String, identity: String?, limits: FileReading.Limits, executor: FileExecutor
  ) throws(SyncError) {
    guard let path = FileDescriptor.canonicalPath(ofDirectory: directory) else {
      throw SyncError(
        .invalidConfiguration, during: "opening a directory of records",
        "\"\(directory)\" is no directory, or not one that can be read.")
    }
    self.directory = path
    self.identity = identity ?? "directory:\(path)"
    self.limits = limits
    self.executor = executor
  }

  /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
  ///
  /// - Throws: `inconsistentData` if the file is gone or is no file, `permissionDenied` if it may not be read,
  ///   `remoteUnavailable` if the directory is gone or reading fails.
  /// - Complexity: O(*n*) in the file's bytes for the first page of a pass and for the first one after a restart,
  ///   otherwise O(*n*) in the page's.
  public func page(_ request: PageRequest) async throws(SyncError) -> RecordPage {
    try await executor.run {
      Result { () throws(SyncError) in try self.answer(request) }
    }
  }

  private func answer(_ request: PageRequest) throws(SyncError) -> RecordPage {
    let file = try TypeFile(request.entity.type, in: directory)
    var pass = passes.withLock { $0.removeValue(forKey: request.entity.type) }
    do {
      let page: RecordPage
      switch request.position {
      case .start(let token):
        pass = nil
        page = try start(request, since: token, of: file, pass: &pass)
      case .resume(let token):
        page = try resume(request, at: token, of: file, pass: &pass)
      }
      passes.withLock { $0[request.entity.type] = pass }
      return page
    } catch .shortened {
      return Self.contentChanged
    } catch {
      throw file.error(error)
    }
  }

  private func start(
    _ request: PageRequest, since token: SyncToken?, of file: TypeFile, pass: inout OpenPass?
  ) throws(FileDescriptor.Failure) -> RecordPage {
    guard let (descriptor, stamp) = try file.open(unlessNeverSeenBy: token) else {
      return Self.nothing(.absent, coverage: token == ContentName.absent.token ? .changes : .everything)
    }
    let survey = try FileSurvey(of: descriptor, prefixUpTo: 0)
    if survey.content.token == token { return Self.nothing(survey.content, coverage: .changes) }
    pass = OpenPass(FileReading(descriptor, survey, stamp: stamp, limits: limits))
    return try nextPage(request, of: file, pass: &pass)
  }

  private func resume(
    _ request: PageRequest, at token: PageToken, of file: TypeFile, pass: inout OpenPass?
  ) throws(FileDescriptor.Failure) -> RecordPage {
    guard let position = FilePosition(token) else { return Self.reset(.pageTokenExpired) }
    if pass?.turn(to: position) != true {
      // A new process, or one that comes back to an older page: only the digest tells whether it is the same content.
      let (descriptor, stamp) = try file.open()
      let survey = try FileSurvey(of: descriptor, prefixUpTo: position.offset)
      guard survey.content == position.content else { return Self.contentChanged }
      guard let prefix = survey.prefix else { return Self.reset(.pageTokenExpired) }
      pass = OpenPass(
        FileReading(descriptor, survey, from: position, digest: prefix, stamp: stamp, limits: limits))
    }
    return try nextPage(request, of: file, pass: &pass)
  }

  private func nextPage(
    _ request: PageRequest, of file: TypeFile, pass: inout OpenPass?
  ) throws(FileDescriptor.Failure) -> RecordPage {
    guard var reading = pass?.reading else { return Self.reset(.pageTokenExpired) }
    let lines = LineReader(request, of: file)
    var changes: [RecordChange] = []
    guard try reading.isStillTheSame() else {
      pass = nil
      return Self.contentChanged
    }
    try reading.readLines(limit: max(1, request.limit)) { line, number in
      changes.append(lines.change(of: line, number: number))
    }
    if reading.isAtEnd {
      pass = nil
      guard reading.isVerified() else { return Self.contentChanged }
    } else {
      pass?.advance(to: reading)
    }
    return RecordPage(
      coverage: .everything, changes: changes, total: reading.survey.lines,
      next: reading.isAtEnd
        ? .done(reading.survey.content.token) : .more(reading.position.token, resumable: true))
  }

  private static func nothing(_ content: ContentName, coverage: RecordPage.Coverage) -> RecordPage {
    RecordPage(coverage: coverage, changes: [], total: 0, next: .done(content.token))
  }

  private static let contentChanged = reset(.contentChanged)

  private static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .everything, changes: [], next: .reset(reason))
  }
}
