import Foundation
import Testing

/// The executable, given something that it cannot serve.
@Suite("server-app, given something wrong,", .timeLimit(.minutes(10)))
struct ServerUsageTests {
  private func run(_ arguments: String...) throws -> (status: Int32, wasKilled: Bool, errors: String) {
    let process = Process()
    process.executableURL = Bundle.main.executableURL?.resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "server-app")
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = FileHandle.nullDevice
    let errors = Pipe()
    process.standardError = errors
    try process.run()
    let text = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, process.terminationReason == .uncaughtSignal, text)
  }

  @Test(arguments: ["nan", "inf", "1e30", "-1", "0", "86401", "soon"])
  func explainsItsUsage(_ seconds: String) throws {
    let outcome = try run("postgres://127.0.0.1:1/none", "/nowhere", "0", seconds)
    #expect(outcome.status == 64 && !outcome.wasKilled)
    #expect(outcome.errors == "usage: server-app STORE DIRECTORY PORT SECONDS\n")
  }

  @Test func saysWhyItDoesNotStart() throws {
    let outcome = try run("no address", "/nowhere", "0", "1")
    #expect(outcome.status == 1 && !outcome.wasKilled)
    #expect(outcome.errors.hasPrefix("server-app: ") && outcome.errors.split(separator: "\n").count == 1)
  }
}
