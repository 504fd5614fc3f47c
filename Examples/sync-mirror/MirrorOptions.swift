#if SQLite
  import CanonicalSyncToolSupport
  import Foundation
  import HTTPAdapters

  /// The options of the command line.
  struct MirrorOptions {
    /// The remote that the command line chooses.
    enum Remote {
      case kinto(server: String, bucket: String)
      /// A described remote, by its place among all of them.
      case described(Int, file: String)
    }

    let remote: Remote
    let collections: [String]
    let store: String
    let credentials: HTTPCredentials?
    let pageSize: Int
    let lease: Duration
    let timeout: Duration
    let watches: Bool
    let pushes: Bool
    let pace: PollPace
    let isDryRun: Bool
    let checks: Bool
    let listsEverything: Bool
    let allowsMassDeletion: Bool
    let allowsOtherRemote: Bool
    let allowsPlainHTTP: Bool
    let authorities: String?
    let isLogging: Bool
    let isJSON: Bool
    let service: ServiceOptions

    /// The variable that may hold the credentials: other users of the machine see command lines.
    private static let variable = "SYNC_MIRROR_AUTH"

    /// Parses the command line.
    ///
    /// After a request for help, or a mistake, it prints an answer and ends the process.
    init() {
      let server = Option<String?>.text(
        "server", "URL", "the address of a Kinto server's API, its version included")
      let bucket = Option<String?>.text("bucket", "NAME", "the bucket of the Kinto server")
      let files = DescribedRemote.all.map(\.option)
      let collections = Option<[String]>.texts(
        "collection", "NAME", "a collection or type to mirror; without any, all of them")
      let store = Option<String?>.text(
        "store", OpenedStore.placeholder, OpenedStore.meaning + "; --check needs none")
      let auth = Option<String?>.text(
        "auth", "USER:PASSWORD",
        "who you are at a Kinto server; better kept in the environment's \(Self.variable), since other users see command lines"
      )
      let pageSize = Option<Int>.pageSize(upTo: 10_000)
      let lease = Option<Int>.lease
      let timeout = Option<Int>.number(
        "timeout", "SECONDS",
        "the longest time for an answer; a page that takes longer is asked for again with half its size",
        in: 1...3600, default: 60)
      let push = Option<Bool>.flag(
        "push", "send the edits that wait in the store's outbox first; without it they stay there")
      let watch = Option<Bool>.flag("watch", "keep polling for changes until Ctrl-C or SIGTERM")
      let soonest = Option<Int>.number(
        "poll-min", "SECONDS",
        "the pause of --watch after a change; it doubles each time without one",
        in: 1...86_400, default: 1)
      let latest = Option<Int?>.number(
        "poll-max", "SECONDS", "the longest pause of --watch; by default 60, or --poll-min if that is longer",
        in: 1...86_400)
      let dryRun = Option<Bool>.flag(
        "dry-run", "show what a sync would change, and change nothing: it runs on a copy of the store")
      let check = Option<Bool>.flag(
        "check", "ask for a little of each described type, and tell what a mirror of it can promise")
      let resync = Option<Bool>.resync
      let allow = Option<Bool>.flag(
        "allow-mass-deletion", "let more than half of a collection go, if the server no longer has it")
      let other = Option<Bool>.flag(
        "allow-other-remote", "let the store mirror another remote than before, and lose what that one lacks")
      let plain = Option<Bool>.flag(
        "allow-http", "allow unencrypted requests to another machine")
      let authorities = Option<String?>.text(
        "certificate-authorities", "FILE",
        "certificate authorities to trust, in PEM, instead of the system's")
      let log = Option<Bool>.log
      let json = Option<Bool>.jsonCounts

      let command = Command(
        "sync-mirror",
        "Mirrors a Kinto server, a JSON API or a CloudKit database into an SQLite store, and local edits back.",
        options: [server, bucket] + files + [
          collections, store, auth, pageSize, lease, timeout, push, watch, soonest, latest, dryRun, check,
          resync, allow, other, plain, authorities, log, json,
        ] + ServiceOptions.all,
        examples: [
          (
            "sync-mirror --server https://settings.example.com/v1 --bucket main --store mirror.sqlite",
            "everything in the bucket; again: only what changed"
          ),
          (
            "sync-mirror --api api.json --check",
            "what a description of an API finds, and what it can promise"
          ),
          ("sync-mirror --api api.json --store mirror.sqlite", "everything that the description names"),
          ("sync-mirror --cloudkit games.json --store mirror.sqlite", "the types of a CloudKit database"),
          ("sync-mirror … --collection games --watch", "one collection, and what changes in it from now on"),
          (
            "sync-mirror … --watch --json-log --metrics-file mirror.prom",
            "a service: a log and metrics for its operators"
          ),
          ("sync-mirror … --push", "local edits to the server, and its changes back"),
          ("sync-mirror … --dry-run", "what would change"),
        ])
      let arguments = command.argumentsOrExit()
      self.collections = arguments[collections]
      self.store = arguments[store] ?? ""
      self.checks = arguments[check]
      do {
        self.remote = try Self.remote(
          server: arguments[server], bucket: arguments[bucket], files: files.map { ($0.name, arguments[$0]) })
        self.credentials = try Self.credentials(arguments[auth], for: remote)
      } catch {
        command.refuse(error)
      }
      self.pageSize = arguments[pageSize]
      self.lease = .seconds(arguments[lease])
      self.timeout = .seconds(arguments[timeout])
      self.pushes = arguments[push]
      self.watches = arguments[watch]
      self.pace = PollPace(from: .seconds(arguments[soonest]), to: .seconds(arguments[latest] ?? 60))
      self.isDryRun = arguments[dryRun]
      self.listsEverything = arguments[resync]
      self.allowsMassDeletion = arguments[allow]
      self.allowsOtherRemote = arguments[other]
      self.allowsPlainHTTP = arguments[plain]
      self.authorities = arguments[authorities]
      self.isLogging = arguments[log]
      self.isJSON = arguments[json]
      self.service = ServiceOptions(arguments)
      if self.store.isEmpty, !checks {
        command.refuse(UsageError("--store PATH is required"))
      }
      if checks, case .kinto = remote {
        command.refuse(UsageError("--check needs a described remote, such as --api FILE"))
      }
      if watches, isDryRun {
        command.refuse(
          UsageError("--watch and --dry-run do not go together: a dry run happens once"))
      }
      if checks, let other = [push, watch, dryRun, resync, allow, other].first(where: { arguments[$0] }) {
        command.refuse(UsageError("--check and --\(other.name) do not go together: a check syncs nothing"))
      }
      if !watches, let option = service.ofServicesAlone.first {
        command.refuse(UsageError("\(option) goes with --watch alone"))
      }
      if checks || isDryRun, service.metricsFile != nil || service.hidesAfter != nil {
        let option = service.metricsFile != nil ? "metrics-file" : "hide-after-days"
        command.refuse(
          UsageError(
            "--\(option) and --\(checks ? "check" : "dry-run") do not go together: nothing is synced"))
      }
      if let most = arguments[latest], most < arguments[soonest] {
        command.refuse(UsageError("--poll-max must not be less than --poll-min"))
      }
    }

    private static func remote(
      server: String?, bucket: String?, files: [(option: String, file: String?)]
    ) throws(UsageError) -> Remote {
      var chosen: [(place: Int, option: String, file: String)] = []
      for (place, (option, file)) in files.enumerated() {
        if let file { chosen.append((place, option, file)) }
      }
      if chosen.count > 1 {
        throw UsageError("--\(chosen[0].option) and --\(chosen[1].option) do not go together")
      }
      if let (place, option, file) = chosen.first {
        if server != nil || bucket != nil {
          throw UsageError("--\(option) does not go with --server and --bucket, which mean a Kinto server")
        }
        return .described(place, file: file)
      }
      guard let server else {
        let others = files.map { "--\($0.option) FILE" }.joined(separator: " or ")
        throw UsageError("--server URL is required, or \(others)")
      }
      guard let bucket else { throw UsageError("--bucket NAME is required") }
      return .kinto(server: server, bucket: bucket)
    }

    /// The credentials of a Kinto server, as given or from the environment.
    private static func credentials(
      _ given: String?, for remote: Remote
    ) throws(UsageError) -> HTTPCredentials? {
      guard case .kinto = remote else {
        guard given == nil else {
          throw UsageError("--auth is for a Kinto server; a description names its own credentials")
        }
        return nil
      }
      guard let text = given ?? ProcessInfo.processInfo.environment[variable] else { return nil }
      guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
        // Not quoted: it may be a secret.
        throw UsageError("credentials must be USER:PASSWORD")
      }
      return .basic(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
    }
  }
#endif
