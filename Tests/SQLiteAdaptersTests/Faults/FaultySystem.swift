#if SQLite
  import CanonicalSyncCSQLite
  import Foundation
  import Synchronization

  /// The operating system as SQLite sees it, with failing disks.
  ///
  /// Files on no such disk are passed to the real system.
  final class FaultySystem: Sendable {
    /// The shared system, registered with SQLite at its first use.
    static let shared = FaultySystem()

    private let disks = Mutex<[String: WeakDisk]>([:])
    // Written once, before it is registered with SQLite.
    private nonisolated(unsafe) let base: UnsafeMutablePointer<sqlite3_vfs>

    private init() {
      // Without a file system, SQLite cannot run any test.
      guard let base = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has no file system.") }
      self.base = base
      let system = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
      system.initialize(to: base.pointee)
      system.pointee.pNext = nil
      system.pointee.zName = UnsafePointer(strdup("faulty"))
      system.pointee.szOsFile = FaultyFile.size + base.pointee.szOsFile
      system.pointee.xOpen = { _, path, file, flags, outFlags in
        FaultySystem.shared.open(path, file, flags, outFlags)
      }
      system.pointee.xDelete = { _, path, syncs in FaultySystem.shared.delete(path, syncs) }
      system.pointee.xAccess = { _, path, flags, result in
        FaultySystem.shared.access(path, flags, result)
      }
      sqlite3_vfs_register(system, 1)
    }

    func mount(_ disk: FaultyDisk) {
      disks.withLock { $0[disk.path] = WeakDisk(disk: disk) }
    }

    func unmount(_ path: String) {
      disks.withLock { _ = $0.removeValue(forKey: path) }
    }

    private func disk(of path: UnsafePointer<CChar>?) -> (disk: FaultyDisk, path: String)? {
      guard let path else { return nil }
      let text = String(cString: path)
      guard let end = text.lastIndex(of: "/") else { return nil }
      return disks.withLock { $0[String(text[..<end])]?.disk }.map { ($0, text) }
    }

    // MARK: Calls

    private func open(
      _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>?, _ flags: Int32,
      _ outFlags: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
      guard let file else { return SQLITE_MISUSE }
      guard let (disk, name) = disk(of: path) else {
        return base.pointee.xOpen(base, path, file, flags, outFlags)
      }
      // SQLite does not close a file without methods.
      file.pointee.pMethods = nil
      if let failure = disk.resolution(.open) { return failure.code(SQLITE_CANTOPEN) }
      let real = FaultyFile.real(file)
      let code = base.pointee.xOpen(base, path, real, flags, outFlags)
      if real.pointee.pMethods != nil { FaultyFile.begin(file, on: disk, at: name) }
      return code
    }

    private func delete(_ path: UnsafePointer<CChar>?, _ syncs: Int32) -> Int32 {
      guard let (disk, name) = disk(of: path) else { return base.pointee.xDelete(base, path, syncs) }
      if let failure = disk.resolution(.delete) { return failure.code(SQLITE_IOERR | 10 << 8) }
      disk.noteDeletion(name)
      return base.pointee.xDelete(base, path, syncs)
    }

    private func access(
      _ path: UnsafePointer<CChar>?, _ flags: Int32, _ result: UnsafeMutablePointer<Int32>?
    ) -> Int32 {
      if let failure = disk(of: path)?.disk.resolution(.access) {
        return failure.code(SQLITE_IOERR | 13 << 8)
      }
      return base.pointee.xAccess(base, path, flags, result)
    }
  }

  private struct WeakDisk {
    weak var disk: FaultyDisk?
  }

  extension FaultyDisk.Failure {
    /// SQLite's result code for a failure. It also sets the system's error number.
    ///
    /// - Parameter broken: The code for a failing device.
    func code(_ broken: Int32, whenFull: Int32? = nil) -> Int32 {
      switch self {
      case .broken, .dark, .forgetful:
        errno = EIO
        return broken
      case .full:
        errno = ENOSPC
        return whenFull ?? broken
      case .busy:
        errno = EAGAIN
        return SQLITE_BUSY
      }
    }
  }
#endif
