import Foundation
import HTTPAdapters
import ToolSupport

/// The options of the command line.
struct MirrorOptions {
  let server: String
  let bucket: String
  let collections: [String]
  let store: String
  let credentials: HTTPCredentials?
  let pageSize: Int
  let watches: Bool
  let pushes: Bool
  let pace: PollPace
  let isDryRun: Bool
  let listsEverything: Bool
  let allowsMassDeletion: Bool
  let allowsPlainHTTP: Bool
  let authorities: String?
  let isLogging: Bool
  let isJSON: Bool

  /// The variable that may hold the credentials: other users of the machine see command lines.
  private static let variable = "SYNC_MIRROR_AUTH"

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let server = Option<String>.requiredText(
      "server", "URL", "the address of the server's API, its version included")
    let bucket = Option<String>.requiredText("bucket", "NAME", "the bucket to mirror")
    let collections = Option<[String]>.texts(
      "collection", "NAME", "a collection to mirror; without any, all of the bucket")
    let store = Option<String>.requiredText(
      "store", "PATH", "the store, an SQLite file, made if it is not there")
    let auth = Option<String?>.text(
      "auth", "USER:PASSWORD",
      "who you are; better kept in the environment's \(Self.variable), since other users see command lines")
    let pageSize = Option<Int>.pageSize(upTo: 10_000)
    let push = Option<Bool>.flag(
      "push", "send the edits that wait in the store's outbox first; without it they stay there")
    let watch = Option<Bool>.flag("watch", "keep polling for changes until Ctrl-C or SIGTERM")
    let soonest = Option<Int>.number(
      "poll-min", "SECONDS",
      "the pause of --watch after a change; it doubles each time without one",
      in: 1...86_400, default: 1)
    let latest = Option<Int>.number(
      "poll-max", "SECONDS", "the longest pause of --watch", in: 1...86_400, default: 60)
    let dryRun = Option<Bool>.flag(
      "dry-run", "show what a sync would change, and change nothing: it runs on a copy of the store")
    let resync = Option<Bool>.resync
    let allow = Option<Bool>.flag(
      "allow-mass-deletion", "let more than half of a collection go, if the server no longer has it")
    let plain = Option<Bool>.flag(
      "allow-http", "allow unencrypted requests to another machine")
    let authorities = Option<String?>.text(
      "certificate-authorities", "FILE",
      "certificate authorities to trust, in PEM, instead of the system's")
    let log = Option<Bool>.log
    let json = Option<Bool>.jsonCounts

    let command = Command(
      "sync-mirror", "Mirrors collections of a Kinto server into an SQLite store, and local edits back.",
      options: [
        server, bucket, collections, store, auth, pageSize, push, watch, soonest, latest, dryRun, resync,
        allow, plain, authorities, log, json,
      ],
      examples: [
        (
          "sync-mirror --server https://settings.example.com/v1 --bucket main --store mirror.sqlite",
          "everything in the bucket; again: only what changed"
        ),
        ("sync-mirror … --collection games --watch", "one collection, and what changes in it from now on"),
        ("sync-mirror … --push", "local edits to the server, and its changes back"),
        ("sync-mirror … --dry-run", "what would change"),
      ])
    let arguments = command.argumentsOrExit()
    self.server = arguments[server]
    self.bucket = arguments[bucket]
    self.collections = arguments[collections]
    self.store = arguments[store]
    do {
      self.credentials = try Self.credentials(
        arguments[auth] ?? ProcessInfo.processInfo.environment[Self.variable])
    } catch {
      command.refuse(error)
    }
    self.pageSize = arguments[pageSize]
    self.pushes = arguments[push]
    self.watches = arguments[watch]
    self.pace = PollPace(from: .seconds(arguments[soonest]), to: .seconds(arguments[latest]))
    self.isDryRun = arguments[dryRun]
    self.listsEverything = arguments[resync]
    self.allowsMassDeletion = arguments[allow]
    self.allowsPlainHTTP = arguments[plain] || HTTPAddress(arguments[server])?.origin.isLoopback == true
    self.authorities = arguments[authorities]
    self.isLogging = arguments[log]
    self.isJSON = arguments[json]
    if watches, isDryRun {
      command.refuse(
        UsageError("--watch and --dry-run do not go together: a dry run happens once"))
    }
    if arguments[latest] < arguments[soonest] {
      command.refuse(UsageError("--poll-max must not be less than --poll-min"))
    }
  }

  private static func credentials(_ text: String?) throws(UsageError) -> HTTPCredentials? {
    guard let text else { return nil }
    guard let colon = text.firstIndex(of: ":"), colon > text.startIndex else {
      // Not quoted: it may be a secret.
      throw UsageError("credentials must be USER:PASSWORD")
    }
    return .basic(user: String(text[..<colon]), password: String(text[text.index(after: colon)...]))
  }
}
