import SyncCore
import SyncJSON
import SyncModels
import Testing

@Suite("Reading the status of a type")
struct PassOutcomesTests {
  @Test(arguments: 0..<4)
  func isSpelledOutAsTheGenericEncoderWritesIt(_ parts: Int) throws {
    var status = PassOutcomes()
    (status.consecutiveFailures, status.successes, status.failures) = (1, 20, 300)
    if parts & 1 != 0 { status.lastSuccess = Timestamp(microseconds: -5) }
    if parts & 2 != 0 { status.lastAttempt = Timestamp(microseconds: 1 << 60) }
    let json = try #require(status.json)
    #expect(try json == JSONByteEncoder().encode(status))
    #expect(PassOutcomes(json: json) == status)
    status.lastError = PassOutcomes.Failure(code: "storeFull", message: "It is full.")
    #expect(status.json == nil)
    let generic = try JSONByteEncoder().encode(status)
    #expect(PassOutcomes(json: generic) == nil)
    #expect(try JSONByteDecoder().decode(PassOutcomes.self, from: generic[...]) == status)
  }

  @Test(arguments: [
    #"{"consecutiveFailures":1}"#, #"{"consecutiveFailures":1,"successes":2,"failures":-1}"#,
    #"{"consecutiveFailures":1,"successes":2,"failures":3,"new":4}"#, "[]", "",
  ])
  func leavesOtherFormsToTheGenericDecoder(_ text: String) {
    #expect(PassOutcomes(json: Array(text.utf8)) == nil)
  }
}
