import CanonicalSyncToolSupport
import Foundation

/// The options of the command line.
struct ServeOptions {
  let store: String
  let bucket: String
  let host: String
  let port: Int
  let users: Users?
  let isOrigin: Bool
  let metricsFile: String?

  /// Parses the command line.
  ///
  /// After a request for help, or a mistake, it prints an answer and ends the process.
  init() {
    let store = Option<String>.requiredText("store", OpenedStore.placeholder, OpenedStore.meaning)
    let bucket = Option<String>.requiredText("bucket", "NAME", "the name of the bucket that clients use")
    let listen = Option<String>.requiredText(
      "listen", "HOST:PORT", "the IPv4 address to listen on, as in 127.0.0.1:8888; port 0 for a free one")
    let auth = Option<String?>.text(
      "auth", "env:NAME",
      "ask for one of the users in an environment variable: user:password, separated by commas or spaces")
    let origin = Option<Bool>.flag(
      "origin",
      "the store is the truth: edits of clients are accepted at once, and clients may declare collections; without it, they wait for a push of the store's own sync"
    )
    let metricsFile = Option<String?>.text(
      "metrics-file", "PATH",
      "write metrics in Prometheus' text format, for a textfile collector: every 15 seconds, and at the end")
    let command = Command(
      "sync-serve",
      "Serves a store to Kinto's clients until SIGTERM (exit code 0) or Ctrl-C. The first line of standard output has the address.",
      options: [store, bucket, listen, auth, origin, metricsFile],
      examples: [
        (
          "sync-serve --store league.sqlite --bucket league --listen 127.0.0.1:8888",
          "what sync-mirror mirrors"
        ),
        (
          "USERS=ann:secret sync-serve --store notes.sqlite --bucket notes --listen 0.0.0.0:8888 --auth env:USERS --origin",
          "a store of its own, for a user"
        ),
      ])
    let arguments = command.argumentsOrExit()
    self.store = arguments[store]
    self.bucket = arguments[bucket]
    isOrigin = arguments[origin]
    self.metricsFile = arguments[metricsFile]
    let text = arguments[listen]
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
      command.refuse(UsageError("--listen must be HOST:PORT, not \(text)"))
    }
    let name = String(text[..<colon])
    host = name == "localhost" ? "127.0.0.1" : name
    self.port = Int(port)
    var address = in_addr()
    guard inet_pton(AF_INET, host, &address) == 1 else {
      command.refuse(UsageError("--listen must begin with an IPv4 address, not \(name)"))
    }
    do throws(UsageError) {
      users = try arguments[auth].map { (text) throws(UsageError) in try Users(text) }
    } catch {
      command.refuse(error)
    }
    if users == nil, !host.hasPrefix("127.") {
      command.refuse(UsageError("--auth env:NAME is required for an address that other machines reach"))
    }
    let isName =
      !self.bucket.isEmpty
      && self.bucket.utf8.allSatisfy {
        (48...57).contains($0) || (97...122).contains($0 | 0x20) || $0 == UInt8(ascii: "-")
          || $0 == UInt8(ascii: "_")
      }
    guard isName, self.bucket != "monitor" else {
      command.refuse(
        UsageError("--bucket must be made of letters, digits, hyphens and underscores, and not be monitor"))
    }
  }
}

/// Names and passwords.
struct Users: Sendable {
  private let passwords: [String: [UInt8]]

  /// Reads `env:NAME`: the users are in that variable, never on the command line.
  init(_ text: String) throws(UsageError) {
    guard text.hasPrefix("env:"), text.utf8.count > 4 else {
      throw UsageError("--auth must be env:NAME, the name of an environment variable with the users")
    }
    let name = String(text.dropFirst(4))
    guard let value = ProcessInfo.processInfo.environment[name], !value.isEmpty else {
      throw UsageError("--auth env:\(name): there is no such environment variable, or it is empty")
    }
    var passwords: [String: [UInt8]] = [:]
    for part in value.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
      let halves = part.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      // The message names the variable alone: what is wrong in it may be a password.
      guard halves.count == 2, !halves[0].isEmpty, !halves[1].isEmpty else {
        throw UsageError("--auth env:\(name): an entry of \(name) is not user:password")
      }
      guard passwords.updateValue(Array(halves[1].utf8), forKey: String(halves[0])) == nil else {
        throw UsageError("--auth env:\(name): \(name) has a user twice")
      }
    }
    guard !passwords.isEmpty else { throw UsageError("--auth env:\(name): \(name) has no user") }
    self.passwords = passwords
  }

  /// The user of an `Authorization` header; `nil` for none that is known.
  func user(of header: String?) -> String? {
    guard let header, header.lowercased().hasPrefix("basic "),
      let data = Data(base64Encoded: header.dropFirst(6).trimmingCharacters(in: .whitespaces)),
      let colon = data.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    let name = String(decoding: data[..<colon], as: UTF8.self)
    let given = Array(data[(colon + 1)...])
    let known = passwords[name]
    // Takes as long for every wrong password, whatever is wrong with it.
    let wanted = known ?? [0]
    var difference = UInt8(given.count == wanted.count && known != nil ? 0 : 1)
    for (place, byte) in given.enumerated() { difference |= byte ^ wanted[place % wanted.count] }
    return difference == 0 ? name : nil
  }
}
