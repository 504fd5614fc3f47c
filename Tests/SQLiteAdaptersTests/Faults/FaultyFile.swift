#if SQLite
  import CanonicalSyncCSQLite
  import Foundation

  /// A file on a ``FaultyDisk``: SQLite's methods and the real file.
  ///
  /// Both are in the same memory block.
  enum FaultyFile {
    typealias File = UnsafeMutablePointer<sqlite3_file>

    /// The state of an open file.
    private final class Place {
      let disk: FaultyDisk
      let path: String

      init(_ disk: FaultyDisk, _ path: String) {
        self.disk = disk
        self.path = path
      }
    }

    /// The bytes before the real file, for the methods and the state.
    static let size: Int32 = 16

    static func real(_ file: File) -> File {
      UnsafeMutableRawPointer(file).advanced(by: Int(size)).assumingMemoryBound(to: sqlite3_file.self)
    }

    private static func place(_ file: File) -> UnsafeMutablePointer<Unmanaged<Place>> {
      UnsafeMutableRawPointer(file).advanced(by: 8).assumingMemoryBound(to: Unmanaged<Place>.self)
    }

    /// Wraps the real file, which has been opened.
    static func begin(_ file: File, on disk: FaultyDisk, at path: String) {
      place(file).initialize(to: .passRetained(Place(disk, path)))
      file.pointee.pMethods = methods
    }

    /// Calls the disk first, then the real file.
    private static func attempt(
      _ file: File?, _ call: FaultyDisk.Call, _ code: Int32, whenFull: Int32? = nil,
      _ act: (File, UnsafePointer<sqlite3_io_methods>, FaultyDisk, String) -> Int32
    ) -> Int32 {
      guard let file, let methods = real(file).pointee.pMethods else { return SQLITE_MISUSE }
      let place = place(file).pointee.takeUnretainedValue()
      if let failure = place.disk.resolution(call) {
        if failure == .forgetful { place.disk.noteLoss(place.path) }
        return failure.code(SQLITE_IOERR | code << 8, whenFull: whenFull)
      }
      return act(real(file), methods, place.disk, place.path)
    }

    /// Calls only the real file.
    private static func pass(
      _ file: File?, _ act: (File, UnsafePointer<sqlite3_io_methods>) -> Int32
    ) -> Int32 {
      guard let file, let methods = real(file).pointee.pMethods else { return SQLITE_MISUSE }
      return act(real(file), methods)
    }

    private static func write(
      _ file: File?, _ bytes: UnsafeRawPointer?, _ count: Int32, _ offset: Int64
    ) -> Int32 {
      guard let file, let bytes, let methods = real(file).pointee.pMethods else { return SQLITE_MISUSE }
      let place = place(file).pointee.takeUnretainedValue()
      let note = { (count: Int32) in
        let written = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
        place.disk.note(place.path, .write(written, at: Int(offset)))
      }
      guard let failure = place.disk.resolution(.write) else {
        note(count)
        return methods.pointee.xWrite(real(file), bytes, count, offset)
      }
      if failure == .broken {
        note(count / 2)
        _ = methods.pointee.xWrite(real(file), bytes, count / 2, offset)
      }
      return failure.code(SQLITE_IOERR | 3 << 8, whenFull: SQLITE_FULL)
    }

    // Allocated for the process's lifetime, because SQLite keeps the address.
    private nonisolated(unsafe) static let methods: UnsafePointer<sqlite3_io_methods> = {
      let methods = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
      methods.initialize(to: sqlite3_io_methods())
      methods.pointee.iVersion = 2
      methods.pointee.xClose = { file in
        guard let file else { return SQLITE_MISUSE }
        place(file).pointee.release()
        return pass(file) { $1.pointee.xClose($0) }
      }
      methods.pointee.xRead = { file, bytes, count, offset in
        attempt(file, .read, 1) { real, methods, _, _ in methods.pointee.xRead(real, bytes, count, offset) }
      }
      methods.pointee.xWrite = { write($0, $1, $2, $3) }
      methods.pointee.xTruncate = { file, size in
        attempt(file, .truncate, 6) { real, methods, disk, path in
          disk.note(path, .truncation(to: Int(size)))
          return methods.pointee.xTruncate(real, size)
        }
      }
      methods.pointee.xSync = { file, flags in
        let isLog = file.map { place($0).pointee.takeUnretainedValue().path.hasSuffix("-wal") } ?? false
        return attempt(file, isLog ? .sync : .fileSync, 4) { real, methods, disk, path in
          disk.noteSync(path)
          return methods.pointee.xSync(real, flags)
        }
      }
      methods.pointee.xFileSize = { file, size in
        attempt(file, .size, 7) { real, methods, _, _ in methods.pointee.xFileSize(real, size) }
      }
      methods.pointee.xLock = { file, level in
        attempt(file, .lock, 15) { real, methods, _, _ in methods.pointee.xLock(real, level) }
      }
      // An unlock succeeds, whatever the disk returns.
      methods.pointee.xUnlock = { file, level in pass(file) { $1.pointee.xUnlock($0, level) } }
      methods.pointee.xCheckReservedLock = { file, result in
        pass(file) { $1.pointee.xCheckReservedLock($0, result) }
      }
      methods.pointee.xFileControl = { file, operation, argument in
        pass(file) { $1.pointee.xFileControl($0, operation, argument) }
      }
      methods.pointee.xSectorSize = { file in pass(file) { $1.pointee.xSectorSize($0) } }
      methods.pointee.xDeviceCharacteristics = { file in
        pass(file) { $1.pointee.xDeviceCharacteristics($0) }
      }
      methods.pointee.xShmMap = { file, region, size, extends, memory in
        attempt(file, .map, 21) { real, methods, _, _ in
          methods.pointee.xShmMap(real, region, size, extends, memory)
        }
      }
      methods.pointee.xShmLock = { file, offset, count, flags in
        guard flags & SQLITE_SHM_LOCK != 0 else {
          return pass(file) { $1.pointee.xShmLock($0, offset, count, flags) }
        }
        // The first byte is the writer's.
        return attempt(file, offset == 0 ? .writeLock : .lock, 20) { real, methods, _, _ in
          methods.pointee.xShmLock(real, offset, count, flags)
        }
      }
      methods.pointee.xShmBarrier = { file in
        _ = pass(file) { real, methods in
          methods.pointee.xShmBarrier(real)
          return SQLITE_OK
        }
      }
      methods.pointee.xShmUnmap = { file, deletes in pass(file) { $1.pointee.xShmUnmap($0, deletes) } }
      return UnsafePointer(methods)
    }()
  }
#endif
