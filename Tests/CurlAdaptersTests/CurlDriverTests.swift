#if Curl && os(Linux)
  @testable import CurlAdapters
  import CanonicalSyncTestServers
  import Foundation
  import HTTPAdapters
  import SyncConformance
  import SyncModels
  import Synchronization
  import Testing

  @Suite("The thread that carries transfers", .timeLimit(.minutes(10)))
  struct CurlDriverTests {
    private func transport(_ driver: CurlDriver) -> CurlTransport {
      CurlTransport(options: CurlTransport.Options(), clock: ContinuousClock(), driver: driver)
    }

    private static let echo: WireScript = { request, send in
      let target = String(request.head.split(separator: " ")[1])
      return send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(target.utf8.count)\r\n\r\n\(target)".utf8))
    }

    @Test func endsWithItsConnectionsWhenItIsIdleAndComesBack() async throws {
      let driver = CurlDriver(idleTime: .milliseconds(100))
      let transport = transport(driver)
      try await LoopbackServer.following(Self.echo) { server in
        for round in 1...3 {
          let address = try #require(HTTPAddress("\(server.origin)/\(round)"))
          #expect(try await transport.send(HTTPRequest("GET", address)).body == Array("/\(round)".utf8))
          while driver.isRunning { await Task.yield() }
        }
        #expect(server.connections == 3)
      }
    }

    @Test func carriesManyAtOnceEachToItsOwnEnd() async throws {
      let driver = CurlDriver(idleTime: .seconds(60))
      let transport = transport(driver)
      try await LoopbackServer.following(Self.echo) { server in
        try await withThrowingTaskGroup(of: Void.self) { group in
          for number in 0..<200 {
            group.addTask {
              let address = try #require(HTTPAddress("\(server.origin)/\(number)"))
              let response = try await transport.send(HTTPRequest("GET", address))
              #expect(response.body == Array("/\(number)".utf8))
            }
          }
          try await group.waitForAll()
        }
      }
    }

    @Test func forgetsWhatIsCancelledAtAnyMoment() async throws {
      let driver = CurlDriver(idleTime: .milliseconds(100))
      let transport = transport(driver)
      try await LoopbackServer.following(Self.echo) { server in
        let address = try #require(HTTPAddress("\(server.origin)/"))
        for round in 0..<300 {
          let task = Task { try await transport.send(HTTPRequest("GET", address)) }
          for _ in 0..<(round % 30) { await Task.yield() }
          task.cancel()
          do {
            #expect(try await task.value.status == 200)
          } catch let error as SyncError {
            #expect(error.code == .cancelled)
          }
        }
        // Nothing is left that would keep the thread.
        while driver.isRunning { await Task.yield() }
      }
    }

    @Test func tellsOfTooManyOpenFiles() async {
      await #expect(processExitsWith: .success) {
        let address = try #require(HTTPAddress("http://127.0.0.1:1/"))
        // The clock's timers also need a descriptor, once, and Dispatch ends the process without
        // it. A time that is over before its timer is set needs none.
        func clockHasTimers() throws -> Bool {
          try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fdinfo").contains { number in
            let description = try? String(contentsOfFile: "/proc/self/fdinfo/\(number)", encoding: .utf8)
            return description?.contains("clockid: \(CLOCK_BOOTTIME)\n") == true
          }
        }
        while try !clockHasTimers() { try await ContinuousClock().sleep(for: .milliseconds(10)) }
        var limit = rlimit(rlim_cur: 3, rlim_max: 3)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        let error = await #expect(throws: SyncError.self) {
          _ = try await CurlTransport().send(HTTPRequest("GET", address))
        }
        #expect(error?.code == .remoteUnavailable)
        #expect(error?.message.contains("too many open files") == true)
      }
    }

    @Test func takesNoMemoryFromHostileAnswers() async {
      await #expect(processExitsWith: .success) {
        func peak() throws -> Int {
          let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
          let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
          return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
        }
        let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 18)
        try await LoopbackServer.following({ request, send in
          guard request.head.contains("endless") else { return Self.echo(request, send) }
          _ = send(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
          while send(block) {}
          return false
        }) { server in
          func request(_ path: String) throws -> HTTPRequest {
            HTTPRequest("GET", try #require(HTTPAddress(server.origin + path)), bodyLimit: 1 << 20)
          }
          let endless = try request("/endless")
          let before = try peak()
          for _ in 1...20 {
            let error = await #expect(throws: SyncError.self) { _ = try await CurlTransport().send(endless) }
            #expect(error?.code == .invalidResponse)
          }
          #expect(try await CurlTransport().send(request("/")).body == Array("/".utf8))
          #expect(try peak() - before < 32 << 20)
        }
      }
    }
  }
#endif
