import Foundation
import Testing

@Suite("The size of the store port")
struct PortSizeTests {
  private static let files = ["LocalStore", "StoreSnapshot", "StoreTransaction"]

  /// The requirements that a protocol's declaration in a source text lists.
  static func requirements(in text: String) -> Int {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    var count = 0
    var isInside = false
    for line in lines {
      if line.hasPrefix("public protocol ") { isInside = true }
      if line == "}" { isInside = false }
      // A requirement begins at the protocol's own level; what it takes is indented further.
      if isInside, line.hasPrefix("  func ") || line.hasPrefix("  var ") || line.hasPrefix("  init(") {
        count += 1
      }
    }
    return count
  }

  @Test func isAtMost28Requirements() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().appendingPathComponent("Sources/SyncPorts")
    let counts = try Self.files.map { name in
      Self.requirements(
        in: try String(contentsOf: folder.appendingPathComponent("\(name).swift"), encoding: .utf8))
    }
    #expect(counts.allSatisfy { $0 > 0 }, "\(counts)")
    #expect(counts.reduce(0, +) <= 28, "\(counts)")
  }

  @Test func countsWhatADeclarationLists() {
    let text = """
      public protocol Port {
        /// func none(of: This)
        func one(
          _ first: Int,
          func_two: Int
        ) -> Int
        var two: Int { get }
        init(three: Int)
      }

      extension Port {
        func none() {}
      }
      """
    #expect(Self.requirements(in: text) == 3)
  }
}
