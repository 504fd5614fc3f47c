import SyncJSON
import SyncModels
import Testing

@Suite("Reading the status of a type")
struct TypeStatusTests {
  @Test(arguments: 0..<4)
  func isSpelledOutAsTheGenericEncoderWritesIt(_ parts: Int) throws {
    var status = TypeStatus()
    (status.consecutiveFailures, status.successes, status.failures) = (1, 20, 300)
    if parts & 1 != 0 { status.lastSuccess = Timestamp(microseconds: -5) }
    if parts & 2 != 0 { status.lastAttempt = Timestamp(microseconds: 1 << 60) }
    let json = try #require(status.json)
    #expect(try json == JSONByteEncoder().encode(status))
    #expect(TypeStatus(json: json) == status)
    status.lastError = TypeStatus.Failure(code: "storeFull", message: "It is full.")
    #expect(status.json == nil)
    let generic = try JSONByteEncoder().encode(status)
    #expect(TypeStatus(json: generic) == nil)
    #expect(try JSONByteDecoder().decode(TypeStatus.self, from: generic[...]) == status)
  }

  @Test(arguments: [
    #"{"consecutiveFailures":1}"#, #"{"consecutiveFailures":1,"successes":2,"failures":-1}"#,
    #"{"consecutiveFailures":1,"successes":2,"failures":3,"new":4}"#, "[]", "",
  ])
  func leavesOtherFormsToTheGenericDecoder(_ text: String) {
    #expect(TypeStatus(json: Array(text.utf8)) == nil)
  }
}
