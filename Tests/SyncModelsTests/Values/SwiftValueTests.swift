import SyncModels
import Testing

@Suite("Conditions on Swift values")
struct SwiftValueTests {
  @Test func holdTheFieldsValues() {
    let (date, number, size, isOpen) = ("2026-04-06", 7, 1.5, true)
    let (none, some): (String?, Int64?) = (nil, 9)
    #expect(Condition.equal("date", date) == .equal("date", .string("2026-04-06")))
    #expect(Condition.equal("number", number) == .equal("number", .integer(7)))
    #expect(Condition.equal("open", isOpen) == .equal("open", .boolean(true)))
    #expect(Condition.equal("none", none) == .equal("none", .null))
    #expect(Condition.equal("some", some) == .equal("some", .integer(9)))
    #expect(Condition.isIn("date", Set([date])) == .isIn("date", [.string("2026-04-06")]))
    #expect(Condition.less("size", size) == .less("size", .double(1.5)))
    #expect(Condition.greater("size", size) == .greater("size", .double(1.5)))
    #expect(Condition.atLeast("size", size) == .atLeast("size", .double(1.5)))
    #expect(Condition.atMost("size", size) == .atMost("size", .double(1.5)))
    #expect(
      Condition.range("date", from: date, to: date)
        == .range("date", from: .string(date), to: .string(date)))
    #expect(Query.SortField.ascending("date") == "date")
  }

  @Test func mayStillBeLiterals() {
    #expect(Condition.equal("date", "x") == .equal("date", .string("x")))
    #expect(Condition.isIn("number", [1, 2]) == .isIn("number", [.integer(1), .integer(2)]))
  }
}
