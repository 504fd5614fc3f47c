#if SQLite
  import Foundation
  import InMemoryAdapters
  @testable import SQLiteAdapters
  import SyncModels
  import SyncPorts
  import Testing

  @Suite("Leases in SQLite", .timeLimit(.minutes(10)))
  struct LeaseTests {
    /// Two handles on one file, as in two processes.
    private func withTwoStores(
      _ body: (SQLiteStore, SQLiteStore, ManualClock) async throws -> Void
    ) async throws {
      let directory = try TemporaryDirectory()
      let clock = ManualClock()
      let configuration = SQLiteStore.Configuration(leaseClock: { clock.timestamp })
      let first = try await SQLiteStore.open(path: directory.file("store.db"), configuration: configuration)
      let second = try await SQLiteStore.open(path: directory.file("store.db"), configuration: configuration)
      try await body(first, second, clock)
      await first.close()
      await second.close()
    }

    @Test func aLivingHolderKeepsTheOthersOut() async throws {
      try await withTwoStores { first, second, clock in
        let lease = try await first.acquireLease(for: .seconds(30))
        clock.advance(by: .seconds(29))
        for store in [first, second] {
          let error = await #expect(throws: SyncError.self) {
            _ = try await store.acquireLease(for: .seconds(30))
          }
          #expect(error?.code == .syncAlreadyInProgress)
          #expect(error?.message.contains("process \(ProcessInfo.processInfo.processIdentifier)") == true)
          #expect(error?.message.contains("another 1 s ") == true)
        }
        try await first.release(lease)
        #expect(try await second.acquireLease(for: .seconds(30)).fence == lease.fence + 1)
      }
    }

    @Test func aDeadHoldersLeaseIsTakenOverAtOnce() async throws {
      try await withTwoStores { first, second, _ in
        let lease = try await first.acquireLease(for: .seconds(3600))
        // Its files are closed without giving the lease back, as after the death of its process.
        await first.close()
        let taken = try await second.acquireLease(for: .seconds(30))
        #expect(taken.fence == lease.fence + 1)
      }
    }

    #if os(Linux)
      @Test func aLeaseGoesWithItsHolderThoughAProcessIsBeingStarted() async throws {
        try await withTwoStores { first, second, _ in
          let lease = try await first.acquireLease(for: .seconds(3600))
          // A process after a fork has the same files open.
          let forked = try #require(try Self.copyOfFile(at: first.path + ".lease"))
          defer { close(forked) }
          await first.close()
          let taken = try await second.acquireLease(for: .seconds(30))
          #expect(taken.fence == lease.fence + 1)
        }
      }

      /// Duplicates the descriptor of an open file with this path.
      private static func copyOfFile(at path: String) throws -> Int32? {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").first { name in
          (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)")) == path
        }
        .flatMap { Int32($0) }.map { dup($0) }
      }
    #endif

    @Test func aHolderWhoseLeaseRanOutIsFencedOff() async throws {
      try await withTwoStores { first, second, clock in
        let lost = try await first.acquireLease(for: .seconds(30))
        clock.advance(by: .seconds(30))
        let taken = try await second.acquireLease(for: .seconds(30))
        let error = await #expect(throws: SyncError.self) {
          try await first.write(.lease(lost)) { transaction throws(SyncError) in
            try transaction.setValue([1], forKey: "k")
          }
        }
        #expect(error?.code == .leaseLost)
        // The old holder lives, and its lock does not protect the new one. When the new holder
        // dies, its lease is free.
        await second.close()
        let again = try await first.acquireLease(for: .seconds(30))
        #expect(again.fence == taken.fence + 1)
        try await first.release(lost)
        try await first.write(.lease(again)) { transaction throws(SyncError) in
          try transaction.setValue([2], forKey: "k")
        }
        let value = try await first.read { snapshot throws(SyncError) in try snapshot.value(forKey: "k") }
        #expect(value == [2])
      }
    }

    @Test func aHolderThatOnlyLostItsLockFileIsStillFenced() async throws {
      try await withTwoStores { first, second, _ in
        let lease = try await first.acquireLease(for: .seconds(30))
        try await first.execute("UPDATE lease SET has_file_lock = 0")
        // Without a lock, only the clock shows the end of the lease.
        let error = await #expect(throws: SyncError.self) {
          _ = try await second.acquireLease(for: .seconds(30))
        }
        #expect(error?.code == .syncAlreadyInProgress)
        try await first.write(.lease(lease)) { _ in }
      }
    }
  }
#endif
