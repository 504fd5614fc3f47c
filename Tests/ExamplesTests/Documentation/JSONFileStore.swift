import Foundation
import SyncAdapters

// The code of Docs/WritingAStore.md: transactions, the lease and the file.

/// A store that keeps everything in one JSON file.
struct JSONFileStore: LocalStore {
  private let file: URL
  private let leaseClock: @Sendable () -> Timestamp

  /// Opens the store, and writes its file once.
  init(
    at file: URL, leaseClock: @escaping @Sendable () -> Timestamp = { ContinuousClock().timestamp }
  ) throws(SyncError) {
    (self.file, self.leaseClock) = (file, leaseClock)
    try change(.app) { _ in }
  }

  func register(_ schema: SyncSchema) async throws(SyncError) {
    try change(.app) { state in
      for entity in schema.entities { state.entities[entity.type] = entity }
    }
  }

  func read<R: Sendable>(
    _ body: @Sendable (any StoreSnapshot) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try body(try load())
  }

  func write<R: Sendable>(
    _ authority: WriteAuthority, _ body: @Sendable (any StoreTransaction) throws(SyncError) -> R
  ) async throws(SyncError) -> R {
    try change(authority) { state throws(SyncError) in
      let result = try body(state)
      state.close()
      return result
    }
  }

  func acquireLease(for duration: Duration) async throws(SyncError) -> Lease {
    try change(.app) { state throws(SyncError) in
      let now = leaseClock()
      if let end = state.leaseEnd, now < end {
        throw SyncError(.syncAlreadyInProgress, during: "taking the lease", "It lasts until \(end).")
      }
      (state.fence, state.leaseEnd) = (state.fence + 1, now + duration)
      return Lease(fence: state.fence, expiresAt: now + duration)
    }
  }

  func renew(_ lease: Lease, for duration: Duration) async throws(SyncError) -> Lease {
    let end = leaseClock() + duration
    try change(.lease(lease)) { $0.leaseEnd = end }
    return Lease(fence: lease.fence, expiresAt: end)
  }

  func release(_ lease: Lease) async throws(SyncError) {
    try change(.app) { if $0.fence == lease.fence { $0.leaseEnd = nil } }
  }

  /// Runs one transaction: the state that the body leaves replaces the file.
  private func change<R>(
    _ authority: WriteAuthority, _ body: (JSONFileState) throws(SyncError) -> R
  ) throws(SyncError) -> R {
    let lock = try lock()
    // Closing releases the lock, as does the end of the process.
    defer { close(lock) }
    let state = try load()
    if case .lease(let lease) = authority, lease.fence != state.fence || state.leaseEnd == nil {
      throw SyncError(.leaseLost, during: "writing", "The last lease is \(state.fence).")
    }
    let result = try body(state)
    do {
      try replace(with: state, durably: authority == .app || state.hasSent)
    } catch {
      throw Self.translated(error)
    }
    return result
  }

  /// Translates a system error to what a caller can do about it.
  private static func translated(_ error: any Error) -> SyncError {
    let code: SyncError.Code =
      switch error {
      case POSIXError.ENOSPC, CocoaError.fileWriteOutOfSpace: .storeFull
      case POSIXError.EACCES, POSIXError.EROFS, CocoaError.fileWriteNoPermission: .storeReadOnly
      default: .storeFailure
      }
    return SyncError(code, during: "writing the store", underlying: error)
  }

  /// Waits until no other writer is in a transaction, in this process or another.
  private func lock() throws(SyncError) -> Int32 {
    let lock = open(file.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard lock >= 0 else { throw Self.translated(POSIXError.last) }
    while flock(lock, LOCK_EX) != 0 { if errno != EINTR { throw Self.translated(POSIXError.last) } }
    return lock
  }

  private func load() throws(SyncError) -> JSONFileState {
    do {
      return try JSONDecoder().decode(JSONFileState.self, from: Data(contentsOf: file))
    } catch CocoaError.fileReadNoSuchFile {
      return JSONFileState()
    } catch {
      throw SyncError(.storeUnreadable, during: "reading the store", underlying: error)
    }
  }

  /// Replaces the file atomically: after a crash, either the old or the new one exists.
  private func replace(with state: JSONFileState, durably: Bool) throws {
    let draft = file.appendingPathExtension("draft")
    try JSONEncoder().encode(state).write(to: draft)
    // The name must not refer to bytes that a power failure could still lose.
    try sync(draft)
    guard rename(draft.path, file.path) == 0 else { throw POSIXError.last }
    if durably { try sync(file.deletingLastPathComponent()) }
  }

  private func sync(_ url: URL) throws {
    let descriptor = open(url.path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw POSIXError.last }
  }
}

extension POSIXError {
  /// The failure of the last system call.
  fileprivate static var last: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}
