#if SQLite
  import CanonicalSync
  import Foundation
  import Testing

  @testable import SQLiteAdapters

  /// A disk that fails at one call of a whole life with a store, for every call.
  @Suite("A store on a failing disk", .timeLimit(.minutes(20)))
  struct DiskFaultTests {
    /// How many lives lie between one and the next: each call has its turn in a soak, and otherwise one in eight, beginning where chance says.
    static let stride = ProcessInfo.processInfo.environment["CANONICALSYNC_SOAK"] != nil ? 1 : 8
    private static let first = Int.random(in: 1...stride)

    /// What fails, how many times in a row (`nil`: until it is mended), and what has to be said.
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

    /// A writer that lets go before the busy time-out is over is waited for, and nobody is told.
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
