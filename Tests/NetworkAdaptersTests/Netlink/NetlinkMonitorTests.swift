#if os(Linux)
  import CanonicalSyncCNetlink
  import Foundation
  import SyncPorts
  import Testing

  @testable import NetworkAdapters

  @Suite("The kernel's monitor", .serialized, .timeLimit(.minutes(10)))
  struct NetlinkMonitorTests {
    @Test func knowsHowThingsStandSoonAfterItsStart() async throws {
      let monitor = try NetlinkMonitor()
      let first = await monitor.statuses().first { $0.connectivity != .unknown }
      #expect(first != nil)
      #expect(monitor.connectivity != .unknown)
    }

    @Test func usesTheNumbersOfTheKernelsHeaders() {
      #expect(
        RouteNumbers.groups
          == UInt32(
            RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE))
      let messages = [
        (RTM_NEWLINK, RouteNumbers.newLink), (RTM_DELLINK, RouteNumbers.removedLink),
        (RTM_GETLINK, RouteNumbers.getLink), (RTM_NEWADDR, RouteNumbers.newAddress),
        (RTM_DELADDR, RouteNumbers.removedAddress), (RTM_GETADDR, RouteNumbers.getAddress),
        (RTM_NEWROUTE, RouteNumbers.newRoute), (RTM_DELROUTE, RouteNumbers.removedRoute),
        (RTM_GETROUTE, RouteNumbers.getRoute),
      ]
      for (header, number) in messages { #expect(header == UInt32(number)) }
      #expect(NLMSG_DONE == Int32(RouteNumbers.done))
      #expect(NLMSG_ERROR == Int32(RouteNumbers.error))
      #expect(NLM_F_DUMP_INTR == Int32(RouteNumbers.interrupted))
      #expect(NLM_F_ROOT | NLM_F_MATCH == Int32(RouteNumbers.dump))
      let attributes = [
        (IFLA_IFNAME, RouteNumbers.linkName), (IFA_ADDRESS, RouteNumbers.address),
        (IFA_LOCAL, RouteNumbers.localAddress), (IFA_FLAGS, RouteNumbers.addressFlags),
      ]
      for (header, number) in attributes { #expect(Int(header) == Int(number)) }
      let ofRoutes = [
        (RTA_OIF, RouteNumbers.outgoingLink), (RTA_PRIORITY, RouteNumbers.metric),
        (RTA_MULTIPATH, RouteNumbers.multipath),
      ]
      for (header, number) in ofRoutes { #expect(header.rawValue == UInt32(number)) }
      #expect(IFF_RUNNING.rawValue == RouteNumbers.isRunning)
      #expect(IFF_LOOPBACK.rawValue == RouteNumbers.isLoopback)
      #expect(IFA_F_TENTATIVE == Int32(RouteNumbers.isTentative))
      #expect(IFA_F_OPTIMISTIC == Int32(RouteNumbers.isOptimistic))
      #expect(IFA_F_DADFAILED == Int32(RouteNumbers.isDuplicate))
      #expect(RT_SCOPE_LINK.rawValue == UInt32(RouteNumbers.linkScope))
      #expect(UInt32(RTN_UNICAST) == UInt32(RouteNumbers.unicast))
    }

    @Test(
      .disabled(
        if: ProcessInfo.processInfo.environment["CANONICALSYNC_BRIEF"] != nil,
        "A sanitizer uses memory and time of its own."))
    func leavesNeitherDescriptorsNorMemoryBehindAfterTenThousandStartsAndStops() async {
      // In a process of its own, so the descriptors of other tests do not count.
      await #expect(processExitsWith: .success) {
        let suite = NetlinkMonitorTests()
        // One-time allocations, and memory that the allocator keeps.
        try await suite.startAndStop(2000)
        let before = try suite.residentBytes()
        try await suite.startAndStop(10_000)
        let growth = try suite.residentBytes() - before
        // A few hundred leaked bytes for each monitor would exceed this. The thread sanitizer uses
        // memory of its own.
        #expect(growth < 3_000_000 || ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil)
      }
    }

    private func startAndStop(_ count: Int) async throws {
      var kept: NetlinkMonitor?
      for round in 0..<count {
        kept = try NetlinkMonitor()
        // Stopped or released, after the first list or before it.
        if round.isMultiple(of: 2) { kept?.stop() }
        if round % 14 == 7 { _ = await kept?.statuses().first { $0.connectivity != .unknown } }
        // They are closed on a queue: in a burst they would exceed the limit of open files.
        if round.isMultiple(of: 100) { await settle(at: 1) }
      }
      // The last monitor was not stopped, and still exists.
      #expect(try openNetlinkSockets() >= 1)
      withExtendedLifetime(kept) {}
      kept = nil
      await settle(at: 0)
    }

    private func residentBytes() throws -> Int {
      let numbers = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
      // Without the pages of files, which the system drops and reads again.
      let pages = numbers.prefix(3).compactMap { Int($0) }
      return try #require(pages.count == 3 ? pages[1] - pages[2] : nil) * Int(sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Waits until at most this many sockets are open. The suite's time limit is the failure.
    private func settle(at count: Int) async {
      while let open = try? openNetlinkSockets(), open > count, !Task.isCancelled { await Task.yield() }
    }

    /// The number of this process's descriptors that are netlink sockets.
    private func openNetlinkSockets() throws -> Int {
      let sockets = Set(
        try kernelTable("/proc/self/net/netlink").dropFirst()
          .compactMap { $0.split(separator: " ").last.map(String.init) })
      let own = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")
      }
      return own.count { $0.hasPrefix("socket:[") && sockets.contains(String($0.dropFirst(8).dropLast())) }
    }
  }
#endif
