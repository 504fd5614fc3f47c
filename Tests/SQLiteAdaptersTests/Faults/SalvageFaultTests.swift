#if SQLite
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import SyncMaintenance
  import Testing

  /// A salvage whose new store's disk fails from one call on, for every call.
  @Suite("A salvage to a failing disk", .timeLimit(.minutes(20)))
  struct SalvageFaultTests {
    /// The result of an attempt on a new disk.
    private struct Attempt {
      let directory: TemporaryDirectory
      var report: SalvageReport?
      var error: SyncError?
      /// Whether the disk failed at all.
      var met: Bool
    }

    private static func attempt(
      _ rich: RichStore, _ scratch: TemporaryDirectory, _ fault: FaultyDisk.Fault
    ) async throws -> Attempt {
      let directory = try TemporaryDirectory(inMemory: true)
      let disk = FaultyDisk(directory)
      disk.expect(fault)
      var attempt = Attempt(directory: directory, met: false)
      let source = SQLiteSalvage(path: rich.path, scratch: scratch.file("copy"))
      do throws(SyncError) {
        let store = try await SQLiteStore.open(
          path: directory.file("new.db"), configuration: .init(readerCount: 1, executor: .inline))
        do throws(SyncError) {
          attempt.report = try await StoreSalvage(from: source, to: store).run()
        } catch {
          attempt.error = error
        }
        await store.close()
      } catch {
        attempt.error = error
      }
      await source.close()
      attempt.met = disk.mend() > 0
      return attempt
    }

    @Test(arguments: [(FaultyDisk.Failure.full, SyncError.Code.storeFull), (.broken, .storeFailure)])
    func saysSoOrHasLostNothing(_ failure: FaultyDisk.Failure, _ code: SyncError.Code) async throws {
      let (files, scratch) = (try TemporaryDirectory(inMemory: true), try TemporaryDirectory(inMemory: true))
      let rich = try await RichStore(path: files.file("store.db"))
      let whole = try await Self.attempt(rich, scratch, .init(failure: failure, call: .max, lasts: nil))
      let expected = try #require(whole.report)
      var call = Int.random(in: 1...DiskFaultTests.stride)
      var (failed, unnoticed) = (0, 0)
      while true {
        let attempt = try await Self.attempt(rich, scratch, .init(failure: failure, call: call, lasts: nil))
        guard attempt.met else { break }
        if let error = attempt.error {
          #expect(error.code == code, "call \(call): \(error)")
          failed += 1
        } else {
          // Only the last copying of the log failed. The log stays, and has what the file lacks.
          let store = try await SQLiteStore.open(path: attempt.directory.file("new.db"))
          let edits = try await store.read { (snapshot) throws(SyncError) in
            var count = 0
            for entity in RichStore.entities {
              count += try snapshot.outbox(entity.type, after: nil, limit: 1000).count
            }
            return count
          }
          #expect(edits == expected.edits, "call \(call)")
          #expect(try await StoreVerification(of: store).run().findings == [], "call \(call)")
          await store.close()
          unnoticed += 1
        }
        call += DiskFaultTests.stride
      }
      #expect(failed > 10, "the disk was not asked as often as that")
      #expect(failure != .full || unnoticed > 0, "no call was one of the last copying")
    }
  }
#endif
