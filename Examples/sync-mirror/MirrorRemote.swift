#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import HTTPAdapters

  /// A remote that can be mirrored: how it is read and written, and which types it has.
  struct MirrorRemote: Sendable {
    /// Where the types come from.
    enum Types: Sendable {
      /// A description names all of them.
      case declared([Entity])
      /// The remote lists them. Types that it no longer lists are emptied.
      case listed(@Sendable () async throws(SyncError) -> [RecordType])
      /// The command line names them.
      case named([RecordType])
    }

    var source: any RemoteRecordSource
    var sink: any RemoteRecordSink
    var types: Types
    /// What it means that there is no type to mirror.
    var emptiness: String
    /// Whether refused credentials may be replaced while the process runs.
    var renewsCredentials = false
    /// Reports what the description finds of some types; `nil` without a description.
    var check: (@Sendable (_ types: [RecordType]) async throws(SyncError) -> CheckReport)?
  }

  /// What `--check` found.
  struct CheckReport: Sendable {
    /// The findings of one type.
    struct TypeReport: Sendable {
      var type: RecordType
      /// What was found, and what can be promised.
      var notes: [String]
      /// What is wrong.
      var problems: [String]
    }

    /// What was found of all types together, and what is wrong with it.
    var notes: [String] = []
    var problems: [String] = []
    var types: [TypeReport]

    var hasProblems: Bool { !problems.isEmpty || types.contains { !$0.problems.isEmpty } }

    /// Prints the report, and the object of `--json`.
    func print(isJSON: Bool) {
      let output = StandardStream.output
      for note in notes { output.line(note) }
      for problem in problems { output.line("PROBLEM: \(problem)") }
      for report in types {
        output.line("\(report.type)")
        for note in report.notes { output.line("  \(note)") }
        for problem in report.problems { output.line("  PROBLEM: \(problem)") }
      }
      guard isJSON else { return }
      let members = types.map { report -> (key: String, value: JSON) in
        let members: [(key: String, value: JSON)] = [
          ("notes", .array(report.notes.map { .string($0) })),
          ("problems", .array(report.problems.map { .string($0) })),
        ]
        return (report.type.rawValue, .object(members))
      }
      output.line(
        JSON.object([
          ("notes", .array(notes.map { .string($0) })), ("problems", .array(problems.map { .string($0) })),
          ("types", .object(members)),
        ]))
    }
  }

  /// What all remotes get from the command line.
  struct RemoteSettings {
    let options: MirrorOptions
    let transport: any HTTPTransport
    /// Called with each message of a server to its operators.
    let onAlert: @Sendable (String) -> Void
    /// The most bytes of an answer's body.
    ///
    /// A page must fit into a small machine's memory however often it is retried; a smaller page
    /// size makes room.
    let bodyLimit = 32 << 20
  }

  /// A remote that a file describes, chosen by an option.
  struct DescribedRemote: Sendable {
    /// The option that names the file, and what it is for.
    let option: Option<String?>
    /// Opens the remote that the file's bytes describe.
    let open:
      @Sendable (
        _ bytes: [UInt8], _ name: String, _ settings: RemoteSettings
      ) throws(SyncError) -> MirrorRemote

    /// All of them, each in a file of its own.
    static let all: [DescribedRemote] = [.api, .cloudKit]
  }
#endif
