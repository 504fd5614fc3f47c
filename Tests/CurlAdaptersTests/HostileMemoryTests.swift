#if Curl && os(Linux)
  import CanonicalSyncTestProcesses
  import CanonicalSyncTestServers
  import CurlAdapters
  import Foundation
  import HTTPAdapters
  import KintoAdapters
  import SyncModels
  import Testing

  /// Runs each test in its own process, so no other test uses its memory.
  @Suite(
    "The memory that hostile answers take", .serialized, .timeLimit(.minutes(10)),
    .disabled(
      if: ProcessInfo.processInfo.environment["CANONICALSYNC_BRIEF"] != nil,
      "A sanitizer uses memory of its own."))
  struct HostileMemoryTests {
    /// The most additional memory of a process after a body that may have a megabyte.
    private static let allowance = 48 << 20

    /// The peak memory of this process, in bytes.
    private static func peak() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }

    /// A gigabyte of zeros in a megabyte of gzip.
    private static func bomb() throws -> [UInt8] {
      Array(try ChildProcess.run(["sh", "-c", "head -c 1073741824 /dev/zero | gzip -c"]).output)
    }

    @Test func aGigabyteBehindAMegabyteTakesNone() async {
      await #expect(processExitsWith: .success) {
        let bomb = try Self.bomb()
        #expect((500_000..<2_000_000).contains(bomb.count))
        let head =
          "HTTP/1.1 200 OK\r\nETag: \"5\"\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
        try await LoopbackServer.with({ _, send in _ = send(Array(head.utf8) + bomb) }) { server in
          var options = KintoSource.Options()
          options.allowsPlainHTTP = true
          options.bodyLimit = 4 << 20
          let source = try KintoSource(
            server: "\(server.origin)/v1", bucket: "b", options: options, transport: CurlTransport())
          let before = try Self.peak()
          let error = await #expect(throws: SyncError.self) {
            try await source.page(
              PageRequest(entity: Entity("items"), position: .start(since: nil), limit: 100, pass: 1))
          }
          #expect(error?.code == .invalidResponse)
          // The limit counts the bytes as they are unpacked.
          #expect(try Self.peak() - before < Self.allowance)
        }
      }
    }

    @Test func endlessBodiesTakeNoMoreThanTheirLimitAndHoldNothingUp() async {
      await #expect(processExitsWith: .success) {
        let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 18)
        try await LoopbackServer.with({ head, send in
          guard head.contains("endless") else {
            _ = send(Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi".utf8))
            return
          }
          _ = send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
          while send(block) {}
        }) { server in
          func request(_ path: String) throws -> HTTPRequest {
            HTTPRequest("GET", try #require(HTTPAddress(server.origin + path)), bodyLimit: 1 << 20)
          }
          let transport = CurlTransport()
          let endless = try request("/endless")
          let before = try Self.peak()
          await withTaskGroup(of: SyncError?.self) { group in
            for _ in 1...4 {
              group.addTask {
                await #expect(throws: SyncError.self) { _ = try await transport.send(endless) }
              }
            }
            for await error in group { #expect(error?.code == .invalidResponse) }
          }
          #expect(try await transport.send(request("/")).body == Array("hi".utf8))
          #expect(try Self.peak() - before < Self.allowance)
        }
      }
    }
  }
#endif
