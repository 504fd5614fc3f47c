import SyncCore
import SyncModels
import Testing

@Suite("Reading the status of a type")
struct PassOutcomesTests {
  @Test(arguments: 0..<16)
  func isTheOneThatWasWritten(_ parts: Int) throws {
    var status = PassOutcomes()
    (status.consecutiveFailures, status.successes, status.failures) = (1, 20, 300)
    if parts & 1 != 0 { status.lastSuccess = Timestamp(microseconds: -5) }
    if parts & 2 != 0 { status.lastAttempt = Timestamp(microseconds: 1 << 60) }
    if parts & 4 != 0 {
      status.lastError = PassOutcomes.Failure(
        code: "storeFull", message: "It is \"full\".\n",
        retryAt: parts & 8 != 0 ? Timestamp(microseconds: 7) : nil)
    }
    #expect(try PassOutcomes(json: status.json) == status)
  }

  @Test(arguments: [
    #"{"consecutiveFailures":1}"#, #"{"consecutiveFailures":1,"successes":2,"failures":-1}"#,
    #"{"consecutiveFailures":1,"successes":2,"failures":3,"lastError":{"code":"c"}}"#, "[]", "",
  ])
  func isRefusedWithAnotherForm(_ text: String) {
    #expect(throws: StoredFormError.self) { try PassOutcomes(json: Array(text.utf8)) }
  }
}
