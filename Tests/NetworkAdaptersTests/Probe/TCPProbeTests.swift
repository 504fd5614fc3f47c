import Foundation
import Testing

@testable import NetworkAdapters

#if os(Linux)
  // When this module's files are compiled together, the socket constants come from its headers.
  import CanonicalSyncCNetlink
#endif

@Suite("A probe of a port", .timeLimit(.minutes(10)))
struct TCPProbeTests {
  @Test func isAnsweredWhereAServerListens() async throws {
    let listener = try Listener()
    #expect(await TCPProbe(host: "127.0.0.1", port: listener.port).answers())
    #expect(await TCPProbe(host: "localhost", port: listener.port).answers())
  }

  @Test func isNotAnsweredWhereNoneDoes() async throws {
    let port = try Listener().port
    #expect(await !TCPProbe(host: "127.0.0.1", port: port).answers())
  }

  @Test func isNotAnsweredByAnUnknownName() async {
    #expect(await !TCPProbe(host: "no.such.host.invalid", port: 80).answers())
  }

  #if os(Linux)
    @Test func endsWhenItIsCancelled() async throws {
      // A full queue: the kernel drops new connections, as a firewall would.
      let listener = try Listener(backlog: 0)
      let guests = try (0..<4).map { _ in try listener.guest() }
      defer { guests.forEach { close($0) } }
      let before = try Self.attempts(at: listener.port)
      let attempt = Task { await TCPProbe(host: "127.0.0.1", port: listener.port).answers() }
      while try Self.attempts(at: listener.port) == before { try await Task.sleep(for: .milliseconds(5)) }
      let start = ContinuousClock.now
      attempt.cancel()
      #expect(await !attempt.value)
      // The kernel's own timeout is two minutes.
      #expect(start.duration(to: .now) < .seconds(60))
    }

    @Test func isAnsweredByASecondAddressBesideASilentOne() async throws {
      let silent = try Listener(backlog: 0)
      let guests = try (0..<4).map { _ in try silent.guest() }
      defer { guests.forEach { close($0) } }
      let listener = try Listener()
      let addresses = [silent, listener].flatMap { SocketAddress.lookUp("127.0.0.1", $0.port) }
      #expect(addresses.count == 2)
      let start = ContinuousClock.now
      #expect(await TCPProbe.isAnswered(at: addresses, ContinuousClock()))
      // The kernel gives the first one up after two minutes.
      #expect(start.duration(to: .now) < .seconds(60))
    }

    /// The number of requested and unanswered connections to a port.
    private static func attempts(at port: UInt16) throws -> Int {
      let asked = String(format: ":%04X 02 ", port)
      return try kernelTable("/proc/net/tcp").count { $0.contains(asked) }
    }
  #endif

  @Test(
    .disabled(
      if: ProcessInfo.processInfo.environment["CANONICALSYNC_BRIEF"] != nil,
      "A sanitizer uses descriptors and time of its own."))
  func leavesNoDescriptorBehind() async {
    // In a process of its own, so the descriptors of other tests do not count.
    await #expect(processExitsWith: .success) {
      let listener = try Listener()
      let probe = TCPProbe(host: "127.0.0.1", port: listener.port)
      for _ in 0..<1000 {
        #expect(await probe.answers())
        listener.dismissGuest()
      }
      // If each were kept, the numbers would have grown by a thousand.
      let next = dup(0)
      #expect((0..<500).contains(next))
    }
  }
}

/// A port of this machine that accepts connections.
final class Listener: Sendable {
  private let descriptor: Int32
  let port: UInt16

  struct Failure: Error {}

  init(backlog: Int32 = 16) throws {
    let descriptor = Self.socket()
    self.descriptor = descriptor
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, length) == 0 && listen(descriptor, backlog) == 0
          && getsockname(descriptor, pointer, &length) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    guard result else { throw Failure() }
  }

  deinit {
    // A process that another test starts inherits the port, and would accept connections.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// Accepts a connection and closes it.
  func dismissGuest() { close(accept(descriptor, nil, nil)) }

  /// Starts a connection without waiting for its acceptance.
  func guest() throws -> Int32 {
    let guest = Self.socket()
    _ = fcntl(guest, F_SETFL, O_NONBLOCK)
    let address = try SocketAddress.lookUp("127.0.0.1", port).first.unwrapped()
    _ = address.bytes.withUnsafeBytes { bytes in
      bytes.bindMemory(to: sockaddr.self).baseAddress.map { connect(guest, $0, socklen_t(bytes.count)) }
    }
    return guest
  }

  private static func socket() -> Int32 {
    #if canImport(Glibc)
      Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    #else
      Foundation.socket(AF_INET, SOCK_STREAM, 0)
    #endif
  }
}

extension Optional {
  fileprivate func unwrapped() throws -> Wrapped {
    guard let self else { throw Listener.Failure() }
    return self
  }
}
