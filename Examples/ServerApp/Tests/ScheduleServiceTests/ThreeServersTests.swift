import CanonicalSync
import Foundation
import PostgresAdapters
import Testing

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Three processes of `server-app` on one database, which `Tests/run` starts.
@Suite("Three servers", .serialized, .timeLimit(.minutes(10)), .enabled(if: !Servers.database.isEmpty))
struct ThreeServersTests {
  @Test func showEachChangeSoonAfterItsCommit() async throws {
    let servers = try Servers()
    defer { servers.end() }
    try servers.write(games: 1)
    for number in 0..<3 { try servers.start(number) }
    try await servers.waitUntilAllShow(games: 1)

    let store = try await PostgresStore.open(try PostgresAddress(servers.store))
    var commits = store.changes().makeAsyncIterator()
    _ = await commits.next()
    var delays: [String] = []
    func change(to games: Int, _ what: String, _ meanwhile: () async throws -> Void = {}) async throws {
      try servers.write(games: games)
      // The commit of the game itself; each server's syncs change nothing else.
      _ = await commits.next()
      let commit = ContinuousClock.now
      try await meanwhile()
      try await servers.waitUntilAllShow(games: games)
      delays.append("\(what) \((ContinuousClock.now - commit).formatted(.units(allowed: [.milliseconds])))")
    }
    try await change(to: 2, "all there:")
    try servers.cutOff(1)
    try await change(to: 3, "after the connections of one were cut:")
    servers.signal(2, SIGSTOP)
    try await change(to: 4, "after one was stopped for a second:") {
      try await Task.sleep(for: .seconds(1))
      servers.signal(2, SIGCONT)
    }
    // The time depends on the machine's other work, so it is reported and not judged.
    print("from a commit until three servers showed it: \(delays.joined(separator: "; "))")
    await store.close()

    for number in 0..<3 {
      #expect(try await servers.get(number, "health") == "ok\n")
      let metrics = try await servers.get(number, "metrics")
      #expect(metrics.contains("# TYPE schedule_position gauge"))
      #expect(metrics.contains(#"schedule_answers_total{cache="hit"}"#))
      #expect(metrics.contains(#"canonicalsync_store_records{type="games"} 4"#))
      let records = try await servers.get(number, "v1/buckets/league/collections/games/records")
      #expect(records.components(separatedBy: #""home_team_id""#).count == 5, "\(records)")
    }
    for number in 0..<3 {
      servers.signal(number, SIGTERM)
      let (status, output) = servers.outcome(number)
      #expect(status == 0 && output.hasSuffix("stopped\n"), "\(output)")
    }
  }

  @Test func replaceALeaderThatDies() async throws {
    let servers = try Servers()
    defer { servers.end() }
    try servers.write(games: 1)
    for number in 0..<2 { try servers.start(number) }
    try await servers.waitUntilAllShow(games: 1)
    servers.signal(0, SIGKILL)
    _ = servers.outcome(0)
    try servers.write(games: 2)
    try await servers.waitUntilAllShow(games: 2)
  }
}

/// The servers, their data and their database.
private final class Servers {
  static let database = ProcessInfo.processInfo.environment["CANONICALSYNC_POSTGRESQL"] ?? ""

  let store: String
  private let name = "t_" + UUID().uuidString.lowercased().replacing("-", with: "")
  private let folder: URL
  private var processes: [Int: Process] = [:]
  private var addresses: [Int: URL] = [:]

  private struct Failure: Error { var text: String }

  init() throws {
    store = "\(Self.database)?schema=\(name)"
    folder = FileManager.default.temporaryDirectory.appending(path: "canonicalsync-\(name)")
    try FileManager.default.createDirectory(
      at: folder.appending(path: "data"), withIntermediateDirectories: true)
    let teams = #"{"id":"BOS","name":"Boston"}"# + "\n" + #"{"id":"NYA","name":"New York"}"# + "\n"
    try Data(teams.utf8).write(to: folder.appending(path: "data/teams.ndjson"))
  }

  /// Ends everything, whatever has failed.
  func end() {
    for process in processes.values where process.isRunning { kill(process.processIdentifier, SIGKILL) }
    for process in processes.values { process.waitUntilExit() }
    // A schema that stays harms no other test.
    try? sql("DROP SCHEMA IF EXISTS \(name) CASCADE")
    try? FileManager.default.removeItem(at: folder)
  }

  /// Makes the source hold so many games.
  func write(games: Int) throws {
    let lines = (1...games).map {
      #"{"id":"\#($0)","date":"2026-04-01","home_team_id":"BOS","away_team_id":"NYA"}"# + "\n"
    }
    try Data(lines.joined().utf8).write(to: folder.appending(path: "data/games.ndjson"), options: .atomic)
  }

  func start(_ number: Int) throws {
    let output = folder.appending(path: "\(number).out")
    try Data().write(to: output)
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "server-app")
    process.arguments = [store, folder.appending(path: "data").path, "0", "0.2"]
    process.environment = ProcessInfo.processInfo.environment.merging(
      ["PGAPPNAME": "\(name)_\(number)"]
    ) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: output)
    try process.run()
    processes[number] = process
  }

  func signal(_ number: Int, _ signal: Int32) {
    if let process = processes[number] { kill(process.processIdentifier, signal) }
  }

  /// Waits for the end of a server, which counts no more.
  func outcome(_ number: Int) -> (status: Int32, output: String) {
    guard let process = processes.removeValue(forKey: number) else { return (-1, "") }
    process.waitUntilExit()
    return (process.terminationStatus, output(number))
  }

  private func output(_ number: Int) -> String {
    (try? String(contentsOf: folder.appending(path: "\(number).out"), encoding: .utf8)) ?? ""
  }

  /// Ends the database's connections of a server.
  func cutOff(_ number: Int) throws {
    try sql(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(name)_\(number)'")
  }

  // MARK: Asking

  /// What a server answers.
  func get(_ number: Int, _ path: String) async throws -> String {
    while addresses[number] == nil {
      let line = output(number).split(separator: "\n").first
      if let line { addresses[number] = URL(string: String(line)) }
      guard processes[number]?.isRunning == true else { throw Failure(text: "server \(number) has ended") }
      try await Task.sleep(for: .milliseconds(5))
    }
    guard let url = addresses[number]?.appending(path: path) else { throw Failure(text: "no address") }
    let (data, _) = try await URLSession.shared.data(from: url)
    return String(decoding: data, as: UTF8.self)
  }

  func waitUntilAllShow(games: Int) async throws {
    let expected = (1...games).map { "\($0): New York at Boston\n" }.joined()
    for number in processes.keys.sorted() {
      while try await get(number, "games/2026-04-01") != expected {
        try await Task.sleep(for: .milliseconds(5))
      }
    }
  }

  private func sql(_ text: String) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", Self.database, "-c", text]
    process.standardOutput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Failure(text: "psql failed") }
  }
}
