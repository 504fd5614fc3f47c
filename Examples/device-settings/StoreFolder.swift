import CanonicalSync
import Foundation
import InMemoryAdapters

#if SQLite
  import SQLiteAdapters
#endif

/// The directory of the devices' stores.
struct StoreFolder: Sendable {
  private let folder: URL
  private let isTemporary: Bool

  /// Chooses a directory, and creates it if it is missing.
  ///
  /// - Parameter path: A directory to keep; `nil` for a temporary one, which ``remove()`` removes.
  init(_ path: String?) throws(SyncError) {
    isTemporary = path == nil
    folder =
      path.map { URL(filePath: $0) }
      ?? FileManager.default.temporaryDirectory.appending(path: "device-settings-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    } catch {
      throw SyncError(
        .storeFailure, during: "making a directory for the stores",
        "\(folder.path) cannot be created, or is not a directory.", underlying: error)
    }
    for device in ["A", "B"] where FileManager.default.fileExists(atPath: self.path(of: device)) {
      throw SyncError(
        .invalidConfiguration, during: "making the stores",
        "\(self.path(of: device)) is there already, and the story begins with new stores.")
    }
  }

  /// Removes the directory, unless it is to be kept.
  func remove() {
    guard isTemporary else { return }
    // The system cleans up the rest of a temporary directory.
    try? FileManager.default.removeItem(at: folder)
  }

  /// The commands to try next, if the stores are kept.
  var suggestions: [String] {
    guard !isTemporary else { return [] }
    return [
      "", "Try next:", "  Examples/run sync-inspect conflicts --store \(path(of: "A"))",
      "  Examples/run sync-inspect status --store \(path(of: "B"))",
    ]
  }

  private func path(of device: String) -> String {
    folder.appending(path: "\(device.lowercased()).sqlite").path
  }

  /// An open store, and the function that closes it.
  struct OpenStore: Sendable {
    let store: any LocalStore
    let close: @Sendable () async -> Void
  }

  #if SQLite
    /// Opens a device's store.
    func open(_ device: String, clock: ManualClock) async throws(SyncError) -> OpenStore {
      let store = try await SQLiteStore.open(
        path: path(of: device), configuration: .init(leaseClock: { clock.timestamp }))
      return OpenStore(store: store) { await store.close() }
    }
  #else
    /// Throws: this build lacks the trait SQLite.
    func open(_ device: String, clock: ManualClock) async throws(SyncError) -> OpenStore {
      throw SyncError(
        .invalidConfiguration, during: "opening the store of \(device)",
        "This build knows no kind of store; build it with the package trait SQLite.")
    }
  #endif
}
