#if SQLite
  import CanonicalSync
  import Foundation
  import Testing

  @testable import SQLiteAdapters

  /// A disk that fails at one call of a store's whole life, for every call.
  @Suite("A store on a failing disk", .timeLimit(.minutes(20)))
  struct DiskFaultTests {
    /// The distance between the tested calls.
    ///
    /// A soak tests every call. Otherwise one in eight is tested, with a random start.
    static let stride = ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] != nil ? 1 : 8
    private static let first = Int.random(in: 1...stride)

    /// The failure, the number of failing calls (`nil`: until the repair), and the expected code.
    static let faults: [(FaultyDisk.Failure, lasts: Int?, SyncError.Code)] = [
      (.broken, 1, .storeFailure), (.broken, nil, .storeFailure), (.full, nil, .storeFull),
      (.busy, nil, .storeBusy),
    ]

    @Test(arguments: faults.indices)
    func saysSoWritesNothingHalfAndGoesOnOnceItIsMended(_ kind: Int) async throws {
      let (failure, lasts, code) = Self.faults[kind]
      let course = try await DiskLife.course()
      var call = Self.first
      while try await DiskLife().run(
        .fault(.init(failure: failure, call: call, lasts: lasts)), expecting: code, course)
      {
        call += Self.stride
      }
      #expect(call > 20, "the disk was not asked as often as that")
    }

    /// The store waits for a writer that finishes before the busy timeout, without an error.
    @Test func waitsForAWriterThatLetsGoInTime() async throws {
      let life = try DiskLife()
      life.disk.expect(.init(failure: .busy, call: 5, lasts: 4))
      try await life.live(busyTimeout: .seconds(60))
      #expect(life.disk.mend() == 4)
    }

    @Test func saysThatThereIsNoRoomAndGoesOnOnceThereIs() async throws {
      let course = try await DiskLife.course()
      var pages = 0
      while try await DiskLife().run(.room(pages: pages), expecting: .storeFull, course) { pages += 1 }
    }

    @Test func isOneInstantsWholeAfterThePowerFailed() async throws {
      let course = try await DiskLife.course()
      var call = Self.first
      while try await DiskLife().run(powerFailsAt: call, course) { call += Self.stride }
      #expect(call > 100, "the disk was not asked as often as that")
    }
  }
#endif
