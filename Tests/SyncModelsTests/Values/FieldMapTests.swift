import Testing

@testable import SyncModels

@Suite("Members compared")
struct FieldMapTests {
  private func payload(_ json: String) -> Payload { Payload(Array(json.utf8)) }

  @Test(arguments: [
    ("1.50", "1.5"), ("1e2", "100"), ("100", "1.0E+2"), ("-0", "0"), ("0e9", "0.000"), ("0.001", "1e-3"),
    ("12345678901234567890.10", "12345678901234567890.1"), (#""Caf\u00e9""#, #""Café""#),
    (#""a\/b""#, #""a/b""#), (#""\ud83d\ude00""#, #""😀""#), (#"{"b":1.0,"a":[ 2 ]}"#, #"{"a":[2.0],"b":1}"#),
    (#"{"a":1,"a":2}"#, #"{"a":2}"#),
  ])
  func areTheSameHoweverTheyAreSpelled(_ a: String, _ b: String) {
    #expect(payload(#"{"v":\#(a),"w":null}"#).hasSameMembers(as: payload(#"{"w": null,"v":\#(b)}"#)))
    #expect(payload(#"{"v":\#(b)}"#).hasSameMembers(as: payload(#"{"v":\#(a)}"#)))
  }

  @Test(arguments: [
    ("1.5", "1.51"), ("9007199254740993", "9007199254740992"), ("1", #""1""#), ("0", "false"), ("0", "null"),
    ("1e400", "1e401"), ("1e99999999999999999999", "1e99999999999999999998"), ("-1", "1"), ("10", "1"),
    (#""é""#, #""e\u0301""#), ("[1,2]", "[2,1]"), (#"{"a":1}"#, #"{"a":1,"b":null}"#),
    (#""1.50""#, #""1.5""#),
  ])
  func differByTheirValues(_ a: String, _ b: String) {
    #expect(!payload(#"{"v":\#(a)}"#).hasSameMembers(as: payload(#"{"v":\#(b)}"#)))
  }
}
