#if SQLite && (Curl || !os(Linux))
  import CanonicalSync
  import Foundation
  import SQLiteAdapters
  import Synchronization
  import ToolSupport

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
      let world = try DamagedWorld()
      try await world.make(at: path)
      let template = try Data(contentsOf: URL(fileURLWithPath: path))
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
        for suffix in ["", "-wal", "-shm", ".lease", "-journal"] {
          try? FileManager.default.removeItem(atPath: path + suffix)
        }
      }
      say("done \(seeds.count) opened \(opened) synced \(synced) resynced \(resynced)")
      let told = codes.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
      say("codes \(told.joined(separator: " "))")
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
