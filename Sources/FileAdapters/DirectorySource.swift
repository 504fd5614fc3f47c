public import SyncModels
public import SyncPorts
import Synchronization

/// A remote in a directory, with one file for each type.
///
/// ```swift
/// let source = try DirectorySource(directory: "schedule")
/// ```
///
/// `games.ndjson` holds one JSON object a line. A line's `id` is the record's key, and its
/// `updated_at` the modification time in milliseconds since 1970. Blank lines, carriage returns
/// before newlines and a UTF-8 byte order mark are skipped. A last line without a newline counts. A
/// line that is not a record, or is too long, is a malformed record with the file's name and the
/// line's number. Of lines that share an id, the engine shows one and withholds the others;
/// ``lines(of:)`` finds their numbers.
///
/// The token is a digest of the file's content. While the digest is the same, nothing has changed.
/// Otherwise everything is listed, and a line with changed bytes is a change whatever its
/// `updated_at` says. A pass reads the file that it opened, even if another file takes the name
/// meanwhile. A later process resumes the pass if the content is still the same. If a file is
/// modified in place during the pass, the pass starts over.
///
/// A file that never existed is an empty listing, as the type's first pass or the token shows. Any
/// other missing file is an error, because only an empty file deletes every record of its type. A
/// later pass that lists everything anew has no token, so a type without records then needs an
/// empty file.
public final class DirectorySource: RemoteRecordSource {
  /// The identity of the data.
  public let identity: String
  /// Full listings of one instant, and no deltas: a changed file is listed completely.
  public let capabilities = SourceCapabilities(
    deltas: .fullOnly, sendsTombstones: false, listing: .snapshot, versions: .perScan)

  let directory: String
  let executor: FileExecutor
  let limits: FileReading.Limits
  private let passes = Mutex<[RecordType: OpenPass]>([:])

  /// Creates a source for a directory.
  ///
  /// - Parameters:
  ///   - directory: The directory's path.
  ///   - identity: A name that stays the same wherever the directory moves. By default it is the
  ///     directory's canonical path, so moved data count as other data.
  ///   - lineLimit: The most bytes of a record.
  ///   - executor: Runs the reads.
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
        "\"\(directory)\" is not a directory, or cannot be read.")
    }
    self.directory = path
    self.identity = identity ?? "directory:\(path)"
    self.limits = limits
    self.executor = executor
  }

  /// Returns the page that begins at a position; see ``RemoteRecordSource/page(_:)``.
  ///
  /// - Throws: `inconsistentData` if the file is missing or is not a regular file;
  ///   `permissionDenied` if it may not be read; `remoteUnavailable` if the directory is gone or
  ///   reading fails.
  /// - Complexity: O(*n*) in the file's bytes for the first page of a pass and for the first one
  ///   after a restart, otherwise O(*n*) in the page's.
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
    let hasSeenNoRecord = hasSeenNoRecord(before: request, token)
    guard let (descriptor, stamp) = try file.open(mayBeMissing: hasSeenNoRecord) else {
      return Self.nothing(.absent, coverage: token == ContentName.absent.token ? .delta : .full)
    }
    let survey = try FileSurvey(of: descriptor, prefixUpTo: 0)
    if survey.content.token == token { return Self.nothing(survey.content, coverage: .delta) }
    pass = OpenPass(FileReading(descriptor, survey, stamp: stamp, limits: limits))
    return try nextPage(request, of: file, pass: &pass)
  }

  /// Whether no pass before this one has seen a record in the file.
  ///
  /// The token tells what the last pass saw. Without one, only the first pass is known to follow
  /// none.
  private func hasSeenNoRecord(before request: PageRequest, _ token: SyncToken?) -> Bool {
    guard let token else { return request.pass <= 1 }
    return token == ContentName.absent.token || token == ContentName.empty.token
  }

  private func resume(
    _ request: PageRequest, at token: PageToken, of file: TypeFile, pass: inout OpenPass?
  ) throws(FileDescriptor.Failure) -> RecordPage {
    guard let position = FilePosition(token) else { return Self.reset(.pageTokenExpired) }
    if pass?.turn(to: position) != true {
      // A new process, or a request for an older page: only the digest shows whether the content is
      // the same.
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
      coverage: .full, changes: changes, total: reading.survey.lines,
      next: reading.isAtEnd
        ? .done(reading.survey.content.token) : .more(reading.position.token, resumable: true))
  }

  private static func nothing(_ content: ContentName, coverage: RecordPage.Coverage) -> RecordPage {
    RecordPage(coverage: coverage, changes: [], total: 0, next: .done(content.token))
  }

  private static let contentChanged = reset(.contentChanged)

  private static func reset(_ reason: ResetReason) -> RecordPage {
    RecordPage(coverage: .full, changes: [], next: .reset(reason))
  }
}

extension DirectorySource {
  /// Finds the current line numbers of records, for a person who is to correct them.
  ///
  /// Lines are numbered from 1. A record whose id repeats has all of its lines. A record without a
  /// line, or without its file, is left out.
  ///
  /// - Throws: The errors of ``page(_:)``. A failure changes nothing.
  /// - Complexity: O(*n*) in the bytes of the records' files, which are read again.
  public func lines(of ids: Set<RecordID>) async throws(SyncError) -> [RecordID: [Int]] {
    try await executor.run {
      Result { () throws(SyncError) in
        var lines: [RecordID: [Int]] = [:]
        for type in Set(ids.map(\.type)) { try self.search(for: ids, in: type, into: &lines) }
        return lines
      }
    }
  }

  private func search(
    for ids: Set<RecordID>, in type: RecordType, into lines: inout [RecordID: [Int]]
  ) throws(SyncError) {
    let file = try TypeFile(type, in: directory)
    // Only the keys are needed.
    let page = PageRequest(entity: Entity(type), position: .start(since: nil), limit: .max, pass: 0)
    let reader = LineReader(page, of: file)
    do {
      guard let (descriptor, stamp) = try file.open(mayBeMissing: true) else { return }
      let survey = try FileSurvey(of: descriptor, prefixUpTo: 0)
      var reading = FileReading(descriptor, survey, stamp: stamp, limits: limits)
      while !reading.isAtEnd {
        try reading.readLines(limit: .max) { line, number in
          guard let id = reader.change(of: line, number: number).id, ids.contains(id) else { return }
          lines[id, default: []].append(number)
        }
      }
    } catch {
      throw file.error(error)
    }
  }
}
