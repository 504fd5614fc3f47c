import Foundation
import SyncSimulation

#if SQLite
  import CanonicalSync
  import SQLiteAdapters

  extension Simulation {
    /// The same worlds with SQLite stores, each in a temporary file.
    static var withSQLite: Simulation? {
      var simulation = Simulation()
      let home = home
      simulation.useStores { (leaseClock) throws(SyncError) in
        let folder = home.appending(path: "world-\(UUID().uuidString)")
        do {
          try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        } catch {
          throw SyncError(.storeFailure, during: "making a world's folder", underlying: error)
        }
        let path = folder.appending(path: "store.sqlite").path
        return StoreBench(
          open: { () async throws(SyncError) in
            try await SQLiteStore.open(
              path: path, configuration: .init(readerCount: 1, leaseClock: leaseClock, executor: .inline))
          },
          close: { store in await (store as? SQLiteStore)?.close() },
          // The rest of it is in the system's temporary directory.
          discard: { try? FileManager.default.removeItem(at: folder) })
      }
      return simulation
    }

    /// The directory of the files, in memory if possible.
    ///
    /// No world has a power failure, so no disk is needed.
    private static var home: URL {
      let memory = "/dev/shm"
      let isGiven = ProcessInfo.processInfo.environment["TMPDIR"] != nil
      guard !isGiven, FileManager.default.isWritableFile(atPath: memory) else {
        return FileManager.default.temporaryDirectory
      }
      return URL(filePath: memory, directoryHint: .isDirectory)
    }
  }
#else
  extension Simulation {
    /// Without the trait SQLite there is no such store.
    static var withSQLite: Simulation? { nil }
  }
#endif
