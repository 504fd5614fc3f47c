import CanonicalSync
import Foundation
import InMemoryAdapters

#if SQLite
  import SQLiteAdapters
#endif

/// The directory that the devices' stores lie in.
struct StoreFolder: Sendable {
  private let folder: URL
  private let isTemporary: Bool

  /// Chooses a directory, and makes it if it is not there.
  ///
  /// - Parameter path: A directory to keep; `nil` for one that ``remove()`` removes.
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
        "\(folder.path) cannot be made, or is no directory.", underlying: error)
    }
    for device in ["A", "B"] where FileManager.default.fileExists(atPath: self.path(of: device)) {
      throw SyncError(
        .invalidConfiguration, during: "making the stores",
        "\(self.path(of: device)) is there already, and the story begins with new stores.")
    }
  }

  /// Removes the directory, unless it was to be kept.
  func remove() {
    guard isTemporary else { return }
    // What is left of a temporary directory is the system's to clean up.
    try? FileManager.default.removeItem(at: folder)
  }

  /// What to look at next, where there is something left.
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

  /// A store, and how it is closed.
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
    /// Refuses: whoever built the tool left SQLite out.
    func open(_ device: String, clock: ManualClock) async throws(SyncError) -> OpenStore {
      throw SyncError(
        .invalidConfiguration, during: "opening the store of \(device)",
        "This build knows no kind of store; build it with the package trait SQLite.")
    }
  #endif
}
