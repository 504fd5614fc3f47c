#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters
  import SyncMaintenance
  import Synchronization

  /// Lives with many damaged stores, one after another.
  ///
  /// Each store's number is printed before its use. If the process dies, the output shows which
  /// store caused it.
  struct DamagedLives {
    let directory: String
    let seeds: Range<UInt64>

    /// The time limit of one step in a store's life, on a busy machine.
    private static let deadline = Duration.seconds(30)

    private struct Place {
      var seed: UInt64 = 0
      var step = "making the store"
      var since = ContinuousClock().now
    }

    init?(_ arguments: [String]) {
      guard arguments.count == 5, arguments[1] == "damaged", let first = UInt64(arguments[3]),
        let count = UInt64(arguments[4])
      else { return nil }
      directory = arguments[2]
      seeds = first..<first + count
    }

    func run() async throws {
      let path = directory + "/template.db"
      // A store of an earlier run has versions of another remote.
      remove(path)
      let world = try DamagedWorld()
      let template = try await world.make(at: path)
      let (pending, edits) = (await PendingEdits.read(path), try await KnownEdits(of: path))
      guard pending != nil, try await verified(path) == true else {
        throw SyncError(.storeUnreadable, during: "verifying the intact store")
      }
      var (changed, found, silent, salvaged) = (0, 0, 0, 0)
      let place = PlaceKeeper()
      place.watch(deadline: Self.deadline)
      var (opened, synced, resynced): (Int, Int, Int) = (0, 0, 0)
      var codes: [String: Int] = [:]
      for seed in seeds {
        place.enter(seed, "damage")
        let path = directory + "/s\(seed).db"
        var damage = Damage(seed: seed)
        let story = try await damage.copy(template, to: path)
        say("store \(seed) \(story)")
        // The file may change when it is opened for writing, so it is verified first.
        place.enter(seed, "verify")
        say("step verify")
        let isSound = try await verified(path)
        place.enter(seed, "edits")
        let read = await PendingEdits.read(path)
        let isChanged = read != pending
        if isChanged { changed += 1 }
        if isSound != true { found += 1 }
        if isChanged, isSound == true {
          silent += 1
          say("silent \(seed) \(story)")
        }
        place.enter(seed, "salvage")
        say("step salvage")
        do throws(SyncError) {
          let complaints = try await world.salvage(path, to: path + ".new", edits: edits)
          for complaint in complaints { say("complaint \(seed) \(complaint)") }
          salvaged += 1
        } catch {
          say("complaint \(seed) \(error)")
        }
        await world.live(in: path) { (name, step) in
          place.enter(seed, name)
          say("step \(name)")
          do throws(SyncError) {
            try await step()
            switch name {
            case "open": opened += 1
            case "sync": synced += 1
            case "resync": resynced += 1
            default: break
            }
            return true
          } catch {
            codes["\(error.code)", default: 0] += 1
            say("told \(error)")
            return false
          }
        }
        place.enter(seed, "remove")
        for name in ["", ".new", ".new.copy", ".new.copy-recovered", ".damaged"] { remove(path + name) }
      }
      say("done \(seeds.count) opened \(opened) synced \(synced) resynced \(resynced)")
      say(
        "verified \(seeds.count) changed \(changed) found \(found) silent \(silent) salvaged \(salvaged)"
      )
      let told = codes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      say("codes \(told.joined(separator: " "))")
    }

    /// Removes a store's files, if they exist.
    private func remove(_ path: String) {
      for suffix in ["", "-wal", "-shm", ".lease", "-journal"] {
        try? FileManager.default.removeItem(atPath: path + suffix)
      }
    }

    /// Whether a store is sound; `nil` if it cannot be opened.
    private func verified(_ path: String) async throws(SyncError) -> Bool? {
      let store: SQLiteStore
      do throws(SyncError) {
        store = try await SQLiteStore.open(
          path: path, configuration: .init(isReadOnly: true, busyTimeout: .milliseconds(50), readerCount: 1))
      } catch {
        return nil
      }
      let report = try await StoreVerification(of: store).run()
      await store.close()
      return report.isSound
    }

    private func say(_ line: String) {
      StandardStream.output.line(line)
      StandardStream.output.flush()
    }

    /// The current step, and a thread that ends the process after a time limit.
    private final class PlaceKeeper: Sendable {
      private let place = Mutex(Place())

      func enter(_ seed: UInt64, _ step: String) {
        place.withLock { $0 = Place(seed: seed, step: step) }
      }

      func watch(deadline: Duration) {
        Thread.detachNewThread { [self] in
          while true {
            Thread.sleep(forTimeInterval: 0.5)
            let here = place.withLock { $0 }
            if here.since.duration(to: ContinuousClock().now) > deadline {
              StandardStream.output.line("stuck \(here.seed) in \(here.step)")
              StandardStream.output.flush()
              _exit(3)
            }
          }
        }
      }
    }
  }
#endif
