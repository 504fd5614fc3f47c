import CanonicalSyncTestProcesses
import Foundation
package import SyncConformance

/// A TLS front for a scripted server.
package struct TLSFront: WireServer {
  /// The origin of the front.
  package let origin: String
  private let behind: LoopbackServer

  /// The complete requests.
  package var requests: [WireRequest] { behind.requests }
  /// The number of connections to the server behind the front.
  package var connections: Int { behind.connections }

  /// The port.
  package var port: Int { URL(string: origin)?.port ?? 0 }

  private static let script = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../servers/tls").standardized
  private static let folder = FileManager.default.temporaryDirectory
    .appending(path: "CanonicalSync-TLS-\(ProcessInfo.processInfo.processIdentifier)")

  /// The certificate authority of the server, as a PEM file.
  ///
  /// `nil` if openssl or python3 is missing.
  package static let authority: String? = {
    do {
      let process = try ChildProcess([script.path, "authority", folder.path])
      let path = folder.appending(path: "authority.pem").path
      return process.waitUntilExit().status == 0 ? path : nil
    } catch {
      return nil
    }
  }()

  /// The HTTP version for clients.
  package enum Version: String, Sendable {
    /// HTTP/1, passed on byte by byte.
    case one = "front"
    /// HTTP/2, by nghttpx.
    case two = "http2"
  }

  /// Whether a program for HTTP/2 is installed.
  package static var speaksHTTP2: Bool {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":") + ["/usr/sbin"]
    return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/nghttpx") }
  }

  /// Runs a body with a server behind TLS that follows a script, and stops it.
  package static func following(
    _ script: @escaping WireScript, speaking version: Version = .one, _ body: (TLSFront) async throws -> Void
  ) async throws {
    try await LoopbackServer.following(script) { server in
      let (output, input) = (Pipe(), Pipe())
      let process = try ChildProcess(
        [Self.script.path, version.rawValue, folder.path, "\(server.port)"],
        input: input.fileHandleForReading, output: output.fileHandleForWriting)
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      let port = await firstLine(of: output)
      try await body(TLSFront(origin: "https://127.0.0.1:\(port)", behind: server))
      // The process ends when its standard input does.
      withExtendedLifetime((process, input)) {}
    }
  }

  /// The first line of a process's output, read on a separate thread.
  private static func firstLine(of output: Pipe) async -> String {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let data = output.fileHandleForReading.availableData
        continuation.resume(
          returning: String(decoding: data, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
      }
    }
  }
}
