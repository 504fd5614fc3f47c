#if SQLite
  import CanonicalSyncCSQLite
  import SyncModels
  import Testing

  @testable import SQLiteAdapters

  @Suite("Result codes")
  struct ResultCodeTests {
    @Test(arguments: [
      (SQLITE_BUSY, SyncError.Code.storeBusy), (SQLITE_BUSY | 2 << 8, .storeBusy),
      (SQLITE_LOCKED, .storeBusy), (SQLITE_PROTOCOL, .storeBusy),
      (SQLITE_FULL, .storeFull), (SQLITE_READONLY, .storeReadOnly),
      (SQLITE_READONLY | 4 << 8, .storeReadOnly),
      (SQLITE_PERM, .storeReadOnly), (SQLITE_AUTH, .storeReadOnly), (SQLITE_NOTADB, .storeUnreadable),
      (SQLITE_CORRUPT, .storeUnreadable), (SQLITE_CORRUPT | 1 << 8, .storeUnreadable),
      (SQLITE_FORMAT, .storeUnreadable), (SQLITE_IOERR, .storeFailure),
      (SQLITE_IOERR | 3 << 8, .storeFailure),
      (SQLITE_CANTOPEN, .storeFailure), (SQLITE_CONSTRAINT, .storeFailure), (SQLITE_ERROR, .storeFailure),
      (SQLITE_NOMEM, .storeFailure), (SQLITE_TOOBIG, .storeFailure), (SQLITE_MISUSE, .storeFailure),
    ])
    func becomeWhatACallerMayDo(_ code: Int32, _ meaning: SyncError.Code) {
      #expect(SQLiteFailure(code: code).meaning == meaning)
    }

    @Test(arguments: [ENOSPC, EDQUOT])
    func aDiskWithoutRoomIsAFullStore(_ systemError: Int32) {
      #expect(SQLiteFailure(code: SQLITE_IOERR | 3 << 8, systemError: systemError).meaning == .storeFull)
      #expect(SQLiteFailure(code: SQLITE_CANTOPEN, systemError: systemError).meaning == .storeFull)
      #expect(SQLiteFailure(code: SQLITE_IOERR, systemError: EIO).meaning == .storeFailure)
    }

    @Test func textsHoldNeitherSQLNorContents() async throws {
      try await withStore { store, _ in
        let error = await #expect(throws: SyncError.self) {
          try await store.execute("INSERT INTO state VALUES ('secret', NULL)")
        }
        let text = "\(String(describing: error)) \(String(describing: error?.underlying))"
        #expect(error?.code == .storeFailure)
        #expect(!text.contains("secret") && !text.contains("state") && !text.contains("INSERT"))
      }
    }
  }
#endif
