import Testing

@Suite("The rules")
struct RulesTests {
  private func complaints(_ path: String, _ text: String) -> [String] {
    Rules.violations(in: SourceFile(path: path, text: text)).map(\.description)
  }

  @Test(
    arguments: [
      ("Sources/SyncModels/A.swift", "import Foundation"),
      ("Sources/SyncModels/A.swift", "@preconcurrency public import Foundation"),
      ("Sources/SyncModels/A.swift", "  import struct Foundation.Date"),
      ("Sources/SyncModels/A.swift", "@_spi(X) @testable import SyncPorts"),
      ("Sources/SyncModels/A.swift", "#if canImport(Glibc)\nimport Glibc\n#endif"),
      ("Sources/SyncPorts/Wall.swift", "import Glibc"),
      ("Sources/SyncPorts/A.swift", "import SyncCore"),
      ("Sources/SyncCore/Pull/A.swift", "import InMemoryAdapters"),
      ("Sources/SyncCore/Pull/A.swift", "let a = 1; import Dispatch"),
      ("Sources/FileAdapters/A.swift", "import SyncCore"),
      ("Sources/FileAdapters/A.swift", "import CanonicalSyncCSQLite"),
      ("Sources/NewAdapters/A.swift", "import SyncPorts"),
      ("Sources/NetworkAdapters/A.swift", "import CanonicalSyncCSQLite"),
      ("Sources/SchedulingAdapters/A.swift", "import Dispatch"),
      ("Sources/SyncCore/A.swift", "func f() { Task { } }"),
      ("Sources/SyncCore/A.swift", "let t: Task<Void, Never>"),
      ("Sources/SyncCore/A.swift", "Task(priority: .high) { }"),
      ("Sources/SyncCore/A.swift", "Task.detached { }"),
      ("Sources/SyncCore/A.swift", "try await Task.sleep(for: .seconds(1))"),
      ("Sources/SyncCore/A.swift", "@MainActor func f() {}"),
      ("Sources/SyncCore/A.swift", "let s = \"\\(Task { 1 })\""),
      ("Sources/SyncCore/A.swift", "try snapshot.outbox(type, after: last, limit: 400)"),
      ("Sources/SyncCore/A.swift", "snapshot.withheld(\n  type, kinds: [.held], after: key, limit: 9)"),
      ("Sources/SyncCore/A.swift", "snapshot.rows(type, .unmarked, after: nil, limit: 400)"),
      ("Sources/SyncCore/A.swift", "#if MUTANTS\n#endif"),
      ("Sources/InMemoryAdapters/A.swift", "if Mutant.offsetPaging.isActive { return }"),
      ("Sources/SyncCore/PullManager.swift", ""),
      ("Sources/SyncCore/PullUtils+More.swift", ""),
      ("Sources/SyncCore/A.swift", "final class StoreImpl {}"),
      ("Tests/XTests/TestHelpers.swift", ""),
    ])
  func forbid(_ path: String, _ text: String) {
    #expect(complaints(path, text).count == 1)
  }

  @Test(
    arguments: [
      ("Sources/SyncModels/A.swift", "import Synchronization"),
      ("Sources/SyncModels/A.swift", "// import Foundation"),
      ("Sources/SyncModels/A.swift", "/* a /* b */\nimport Foundation */"),
      ("Sources/SyncModels/A.swift", "let s = \"\"\"\n  import Foundation\n  \"\"\""),
      ("Sources/SyncModels/A.swift", "let s = #\"\\\"#; let t = \"import Foundation\""),
      ("Sources/SyncModels/A.swift", "let s = \"\\(f(\"\\\"\", \")\"))\"\n// import Glibc"),
      ("Sources/SyncModels/A.swift", "let importance = important"),
      ("Sources/SyncPorts/Clock.swift", "import Musl"),
      ("Sources/SyncCore/A.swift", "public import SyncPorts\nif Task.isCancelled { }"),
      ("Sources/SyncCore/A.swift", "await withTaskCancellationHandler { } onCancel: { }"),
      ("Sources/SyncCore/A.swift", "/// No `Task { }` here.\nlet s = \"Task.sleep\""),
      ("Sources/SQLiteAdapters/A.swift", "import CanonicalSyncCSQLite\nimport Foundation"),
      ("Sources/SyncSimulation/A.swift", "/// As `Mutant` does.\nlet mutants = [\"MUTANTS\"]"),
      ("Tests/Mutants/Sources/SyncModels/A.swift", "enum Mutant {}"),
      ("Tests/XTests/A.swift", "import Foundation\nTask { }"),
      (
        "Sources/SyncCore/A.swift",
        "snapshot.withheld(.referringTo, [id], kinds: kinds, after: nil, limit: 1)"
      ),
    ])
  func allow(_ path: String, _ text: String) {
    #expect(complaints(path, text) == [])
  }

  @Test(
    arguments: [
      (#".target(name: "Support"),"#, ["Support"]),
      (".executableTarget(\n  name: \"simulate\",", ["simulate"]),
      (#".systemLibrary(name: "CSQLite")"#, ["CSQLite"]),
      (#".target(name: "SyncModels"), .target(name: "CanonicalSyncSupport")"#, []),
      (#".executable(name: "simulate"), .testTarget(name: "AppTests")"#, []),
    ])
  func findNamesThatAnAppMayHave(manifest: String, expected: [String]) {
    #expect(Rules.commonNames(inManifest: manifest) == Set(expected))
  }

  @Test func sayWhere() {
    let text = "// One.\n\nimport SyncModels\nimport Foundation\n"
    #expect(
      complaints("Sources/SyncCore/Pull/A.swift", text)
        == ["Sources/SyncCore/Pull/A.swift:4: SyncCore must not import Foundation"])
  }
}
