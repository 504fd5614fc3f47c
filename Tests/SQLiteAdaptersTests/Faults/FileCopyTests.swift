#if SQLite
  import CanonicalSyncCSQLite
  import Foundation
  import SyncModels
  import Testing

  @testable import SQLiteAdapters

  @Suite("A copy of a damaged file")
  struct FileCopyTests {
    /// A sector that cannot be read costs only its page.
    @Test func hasZerosForWhatTheDiskCannotRead() async throws {
      let directory = try TemporaryDirectory()
      let disk = FaultyDisk(directory)
      await (try SQLiteStore.open(path: directory.file("store.db"))).close()
      let connection = try Connection(
        uri: StoreOpening.uri(directory.file("store.db")), flags: SQLITE_OPEN_READONLY, busyTimeout: .zero)
      // After the file's size: the portion, and its first two pages.
      disk.expect(.init(failure: .broken, call: 2, lasts: 3))
      let pages = try FileCopy.make(
        ofFileOf: connection, at: directory.file("copy.db"), during: "copying")
      #expect(disk.mend() == 3 && pages == 2)
      let (file, copy) = (try directory.contents("store.db"), try directory.contents("copy.db"))
      #expect(copy.count == file.count && copy.prefix(8192).allSatisfy { $0 == 0 })
      #expect(copy.dropFirst(8192) == file.dropFirst(8192))
    }
  }
#endif
