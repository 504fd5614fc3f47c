#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import Foundation
  import SQLiteAdapters
  import SyncAdapters
  import SyncMaintenance

  /// Writes a verified copy of a store, which may be in use, and leaves the store as it is.
  struct Backup {
    let isJSON: Bool
    private let output = StandardStream.output

    init(isJSON: Bool) { self.isJSON = isJSON }

    /// Copies a store into a file that does not exist.
    ///
    /// The copy gets its name once it is verified. After a failure or Ctrl-C there is none.
    ///
    /// - Returns: Failure if the copy has a contradiction, as a damaged store's has.
    func run(of place: String, to target: String) async throws(SyncError) -> ExitCode {
      let stop = CancellationSource()
      let interrupt = Interrupt { stop.cancel() }
      defer { withExtendedLifetime(interrupt) {} }
      guard !OpenedStore.isDatabase(place) else {
        throw SyncError(
          .invalidConfiguration, during: "backing up a store",
          "A store in PostgreSQL is backed up with its database: use pg_dump --schema NAME.")
      }
      if let name = Salvage.existing(target) {
        throw SyncError(
          .invalidConfiguration, during: "backing up \(place)",
          "\(name) exists already; name a new file.")
      }
      let partial = target + ".incomplete"
      Salvage.remove(partial)
      let report: VerificationReport
      do throws(SyncError) {
        let store = try await SQLiteStore.open(path: place, configuration: .init(isReadOnly: true))
        StandardStream.error.notice("Copying \(place).")
        try await store.copy(to: partial)
        await store.close()
        StandardStream.error.notice("Verifying the copy.")
        let copy = try await SQLiteStore.open(path: partial, configuration: .init(isReadOnly: true))
        report = try await StoreVerification(of: copy).run(token: stop)
        await copy.close()
        if report.isSound { try Salvage.finish(target) }
      } catch {
        Salvage.remove(partial)
        guard error.code == .cancelled else { throw error }
        if isJSON { output.line(JSON.cancelled) }
        return .interrupted
      }
      let bytes = (try? FileManager.default.attributesOfItem(atPath: target))?[.size] as? Int ?? 0
      guard report.isSound else {
        Salvage.remove(partial)
        throw SyncError(
          .storeUnreadable, during: "backing up \(place)",
          """
          The copy has \(Counted(report.count, "contradiction").grouped), so the store has too, and no backup was \
          made: `sync-inspect verify` lists them, and `sync-inspect salvage` makes a new store.
          """)
      }
      if isJSON {
        output.line(["backup": .string(target), "bytes": .integer(bytes), "sound": true] as JSON)
      } else {
        output.line("\(target) has all of \(place): \(Counted(bytes, "byte").grouped), verified.")
      }
      return .success
    }
  }
#endif
