import InMemoryAdapters
import Testing

@testable import SyncCore

@Suite("The families of kept values", .timeLimit(.minutes(10)))
struct ValueFamilyTests {
  /// A salvage takes any other key for the app's own.
  @Test(arguments: RerunStory.allCases)
  func haveEveryKeyOfTheEngine(_ story: RerunStory) async throws {
    let keys = try await story.outcome { $0 }.keys
    #expect(!keys.isEmpty)
    #expect(keys.filter { ValueFamily(of: $0) == nil } == [])
  }

  @Test func haveNoKeyInCommon() {
    for family in ValueFamily.allCases {
      #expect(ValueFamily.allCases.filter { $0.rawValue.hasPrefix(family.rawValue) } == [family])
    }
    #expect(ValueFamily(of: "mine") == nil)
  }
}
