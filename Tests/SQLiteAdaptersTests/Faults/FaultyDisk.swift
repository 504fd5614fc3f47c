#if SQLite
  import Foundation
  import Synchronization

  /// A directory on a disk with scripted failures, as SQLite sees it through ``FaultySystem``.
  final class FaultyDisk: Sendable {
    /// The calls of a disk.
    enum Call: Hashable, Sendable {
      case open, read, write, truncate, sync, fileSync, size, lock, writeLock, delete, access, map
    }

    /// The ways in which a call fails.
    enum Failure: Hashable, Sendable {
      /// The device fails; a write stores only its first half.
      case broken
      /// The disk is full.
      case full
      /// Another connection is writing.
      case busy
      /// A flush of a database's file fails, and the system drops its writes.
      case forgetful
      /// The power fails, unsynced writes are lost, and no call works until it returns.
      case dark
    }

    /// A scripted failure.
    struct Fault: Hashable, Sendable {
      var failure: Failure
      /// The number of the first failing call of this kind; 1 for the next.
      var call: Int
      /// The number of failing calls; `nil` for all until the repair.
      var lasts: Int?
    }

    private struct State {
      var fault: Fault?
      var calls = 0
      var failed = 0
      var images: [String: FileImage] = [:]
    }

    let path: String
    private let state = Mutex(State())

    /// Creates a disk for the files in a directory, for the lifetime of the object.
    init(_ directory: TemporaryDirectory) {
      path = directory.path
      FaultySystem.shared.mount(self)
    }

    deinit { FaultySystem.shared.unmount(path) }

    /// Starts counting calls for a fault.
    func expect(_ fault: Fault) {
      state.withLock { state in
        state.fault = fault
        (state.calls, state.failed) = (0, 0)
      }
    }

    /// Ends all faults, and returns the number of failed calls.
    @discardableResult
    func mend() -> Int {
      state.withLock { state in
        state.fault = nil
        return state.failed
      }
    }

    /// The number of failed calls of the current fault.
    var failures: Int { state.withLock(\.failed) }

    /// The failure of a call, if it fails.
    func resolution(_ call: Call) -> Failure? {
      state.withLock { state in
        guard let fault = state.fault, fault.failure.concerns(call) else { return nil }
        state.calls += 1
        guard state.calls >= fault.call, fault.lasts.map({ state.failed < $0 }) ?? true else { return nil }
        state.failed += 1
        return fault.failure
      }
    }

    // MARK: What a power failure leaves

    /// Notes a change that is not synced yet.
    func note(_ path: String, _ change: FileImage.Change) {
      state.withLock { $0.images[path, default: FileImage()].unsynced.append(change) }
    }

    /// Notes that all changes of a file are synced.
    func noteSync(_ path: String) {
      state.withLock { $0.images[path]?.sync() }
    }

    /// Notes that a file's changes will never be synced.
    func noteLoss(_ path: String) {
      state.withLock { $0.images[path]?.unsynced = [] }
    }

    /// Notes that a file was deleted.
    func noteDeletion(_ path: String) {
      state.withLock { _ = $0.images.removeValue(forKey: path) }
    }

    /// Puts the files into a possible state after a power failure.
    ///
    /// Synced changes remain, and unsynced ones at random.
    func restorePower(_ random: inout some RandomNumberGenerator) throws {
      let images = state.withLock { state in
        state.fault = nil
        defer { state.images = state.images.mapValues { FileImage(synced: $0.synced) } }
        return state.images
      }
      for (path, image) in images.sorted(by: { $0.key < $1.key }) {
        let content = image.left(by: &random)
        try Data(content).write(to: URL(fileURLWithPath: path))
        state.withLock { $0.images[path] = FileImage(synced: content) }
        // The index of the log is in memory.
        try? FileManager.default.removeItem(atPath: path + "-shm")
      }
    }
  }

  extension FaultyDisk.Failure {
    fileprivate func concerns(_ call: FaultyDisk.Call) -> Bool {
      switch self {
      case .broken, .dark: true
      case .full: [.write, .map].contains(call)
      case .busy: call == .writeLock
      case .forgetful: call == .fileSync
      }
    }
  }

  /// A file's synced content, with the later changes.
  struct FileImage: Sendable {
    enum Change: Sendable {
      case write([UInt8], at: Int)
      case truncation(to: Int)
    }
    var synced: [UInt8] = []
    var unsynced: [Change] = []

    mutating func sync() {
      for change in unsynced { Self.apply(change, to: &synced) }
      unsynced = []
    }

    /// A possible content after a power failure: each later change whole, in part or not at all.
    func left(by random: inout some RandomNumberGenerator) -> [UInt8] {
      var content = synced
      for change in unsynced {
        switch (change, UInt8.random(in: 0..<8, using: &random)) {
        case (_, 0..<4): Self.apply(change, to: &content)
        case (.write(let bytes, let offset), 4):
          let part = bytes.prefix(Int.random(in: 0...bytes.count, using: &random))
          Self.apply(.write(Array(part), at: offset), to: &content)
        default: continue
        }
      }
      return content
    }

    private static func apply(_ change: Change, to content: inout [UInt8]) {
      switch change {
      case .truncation(let size): content = Array(content.prefix(size))
      case .write(let bytes, let offset):
        let end = offset + bytes.count
        if content.count < end { content += Array(repeating: 0, count: end - content.count) }
        content.replaceSubrange(offset..<end, with: bytes)
      }
    }
  }
#endif
