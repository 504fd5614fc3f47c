import SyncJSON
import Testing

@Suite("JSONTestSuite", .enabled(if: JSONTestSuiteFiles.isPresent))
struct JSONTestSuiteTests {
  @Test func hasCasesOfEveryKind() {
    for prefix in ["y_", "n_", "i_"] {
      #expect(JSONTestSuiteFiles.names.contains { $0.hasPrefix(prefix) })
    }
  }

  @Test(arguments: JSONTestSuiteFiles.names)
  func validatesAsItsNameSays(_ name: String) throws {
    let bytes = try JSONTestSuiteFiles.bytes(of: name)
    let isAccepted = accepts(bytes)
    switch name.prefix(2) {
    case "y_": #expect(isAccepted)
    case "n_": #expect(!isAccepted)
    default: break
    }
  }

  @Test(arguments: JSONTestSuiteFiles.names)
  func visitingAcceptsWhatValidatingAccepts(_ name: String) throws {
    let bytes = try JSONTestSuiteFiles.bytes(of: name)
    guard let value = try? JSONValueSlice(checking: bytes[...]) else { return }
    var visited = 0
    switch value.kind {
    case .object: try JSONScanner.members(of: bytes[...]) { _ in visited += 1 }
    case .array: try JSONScanner.elements(of: bytes[...]) { _ in visited += 1 }
    default: return
    }
    #expect(visited <= bytes.count)
    #expect(accepts(JSONScanner.compacted(bytes[...])))
  }
}
