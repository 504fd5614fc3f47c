import CanonicalSyncTestProcesses
import CanonicalSyncTestServers
import Foundation
import Testing

/// Kinto's client for Python cannot tell a service from Kinto.
@Suite(
  "kinto-http", .enabled(if: RealKinto.address != nil, "Tests/run --all installs it with Kinto."),
  .serialized, .timeLimit(.minutes(10)))
struct KintoHTTPTests {
  private static let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

  /// What each step of the script gave.
  private func steps(_ kind: KintoKind) async throws -> [String] {
    var steps: [String] = []
    try await kind.with(["notes"]) { kinto in
      let (status, output) = try ChildProcess.run(
        [
          Self.package.appending(path: ".build-kinto/bin/python").path,
          Self.package.appending(path: "Tests/servers/kinto-http.py").path, kinto.server, kinto.bucket,
        ], withErrors: true)
      let text = String(decoding: output, as: UTF8.self)
      #expect(status == 0, "\(text)")
      steps = text.split(separator: "\n").map(String.init)
    }
    return steps
  }

  @Test(arguments: KintoKind.present.filter(\.isService))
  func getsFromAServiceWhatItGetsFromKinto(_ kind: KintoKind) async throws {
    let expected = try await steps(.kinto)
    #expect(expected.count > 20)
    #expect(try await steps(kind) == expected)
  }
}
