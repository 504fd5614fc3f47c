#if SQLite
  import Foundation
  import Synchronization

  /// A directory on a disk that fails when it is told to, as SQLite sees it through ``FaultySystem``.
  final class FaultyDisk: Sendable {
    /// What is asked of a disk.
    enum Call: Hashable, Sendable {
      case open, read, write, truncate, sync, size, lock, writeLock, delete, access, map
    }

    /// How a call fails.
    enum Failure: Hashable, Sendable {
      /// The device does not work; of what is to be written, the first half is.
      case broken
      /// There is no room for more.
      case full
      /// Somebody else is writing.
      case busy
      /// The power is gone, and with it whatever was not synced; nothing works until it is back.
      case dark
    }

    /// A failure that is to come.
    struct Fault: Hashable, Sendable {
      var failure: Failure
      /// Which of the calls that can fail so is the first one that does; 1 for the next.
      var call: Int
      /// How many calls fail; `nil` for all until the disk is mended.
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

    /// A disk for the files whose paths begin with a directory's; it lasts as long as the object.
    init(_ directory: TemporaryDirectory) {
      path = directory.path
      FaultySystem.shared.mount(self)
    }

    deinit { FaultySystem.shared.unmount(path) }

    /// From now on calls are counted, and one fails.
    func expect(_ fault: Fault) {
      state.withLock { state in
        state.fault = fault
        (state.calls, state.failed) = (0, 0)
      }
    }

    /// Lets everything work again, and returns how many calls have failed.
    @discardableResult
    func mend() -> Int {
      state.withLock { state in
        state.fault = nil
        return state.failed
      }
    }

    /// How many calls have failed since a fault was told.
    var failures: Int { state.withLock(\.failed) }

    /// Whether a call fails, and how.
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

    /// Notes what was changed and not yet synced.
    func note(_ path: String, _ change: FileImage.Change) {
      state.withLock { $0.images[path, default: FileImage()].unsynced.append(change) }
    }

    /// Notes that all changes of a file are safe.
    func noteSync(_ path: String) {
      state.withLock { $0.images[path]?.sync() }
    }

    /// Notes that a file is gone.
    func noteDeletion(_ path: String) {
      state.withLock { _ = $0.images.removeValue(forKey: path) }
    }

    /// Puts the files into a state that a power failure may leave: what was synced, and of the rest whatever chance says.
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
      }
    }
  }

  /// A file as a disk has it: what was synced, and what came after that.
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

    /// What is left if the power fails now: each later change whole, in part or not at all.
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
