import Testing

@testable import SyncModels

@Suite("A counted noun")
struct CountedTests {
  @Test(arguments: [
    (-1, "-1 changes"), (0, "0 changes"), (1, "1 change"), (2, "2 changes"), (21, "21 changes"),
  ])
  func isSingularAfterAOneAlone(_ count: Int, _ text: String) {
    #expect("\(Counted(count, "change"))" == text)
  }

  @Test func takesWhatGoesByTheNumberWithIt() {
    #expect("\(Counted(1, "entry waits", "entries wait"))" == "1 entry waits")
    #expect("\(Counted(3, "entry waits", "entries wait"))" == "3 entries wait")
    #expect(Counted(1, "it", "them").words == "it")
    #expect(Counted(3, "it", "them").words == "them")
  }

  @Test func isHowBytesAreTold() {
    #expect("\(Payload([0x7B]))" == "1 byte")
    #expect("\(Payload([0x7B, 0x7D]))" == "2 bytes")
  }
}
