import CanonicalSync
import Testing

@testable import SyncCore

@Suite("A changed declaration")
struct DeclarationChangeTests {
  private static func games(_ references: [Reference], _ key: NaturalKey? = nil) -> Entity {
    Entity("games", references: references, naturalKey: key)
  }

  private static let home = Reference.to("teams", by: "home")
  private static let away = Reference.to("teams", by: "away")
  private static let loose = Reference.to("teams", by: "home", ordered: false)

  /// Returns what is due after the last of some declarations; `nil` for a type not declared.
  private func due(after declarations: Entity?...) -> (withholds: Bool, releases: Bool, voidsRebuild: Bool) {
    var (stored, void) = (StoredDeclarations(), [RecordType]())
    for entity in declarations { void = stored.declare(entity.map { [$0] } ?? []) }
    let known = stored.known("games")
    return (known?.withholds ?? false, known?.release != nil, !void.isEmpty)
  }

  @Test func withholdsWhatAnAddedReferenceLetsDangle() {
    #expect(due(after: Self.games([]), Self.games([Self.home])) == (true, false, false))
    #expect(due(after: Self.games([Self.loose]), Self.games([Self.home])) == (true, false, false))
  }

  @Test func releasesWhatARemovedReferenceKeptWaiting() {
    #expect(due(after: Self.games([Self.home]), Self.games([])) == (false, true, false))
    #expect(due(after: Self.games([Self.home]), Self.games([Self.loose])) == (false, true, false))
  }

  @Test func doesBothWhereAReferenceHasAnotherTarget() {
    let clubs = Reference.to("clubs", by: "home")
    #expect(due(after: Self.games([Self.home]), Self.games([clubs])) == (true, true, false))
  }

  @Test func isNoneInAnotherOrder() {
    #expect(
      due(after: Self.games([Self.home, Self.away]), Self.games([Self.away, Self.home])) == (
        false, false, false
      ))
    #expect(due(after: Self.games([Self.loose]), Self.games([])) == (false, false, false))
  }

  @Test func meansNothingForATypeThatWasNeverDeclared() {
    #expect(due(after: nil, Self.games([Self.home])) == (false, false, false))
  }

  @Test func doesBothForATypeThatIsDeclaredAgain() {
    let old = Self.games([Self.home])
    #expect(due(after: old, nil, old) == (true, true, false))
    #expect(due(after: old, nil, Self.games([])) == (false, true, false))
  }

  @Test func includesWhatAnInterruptedOneLeft() {
    let (strict, mild) = (Self.games([Self.home]), Self.games([]))
    #expect(due(after: strict, mild, strict) == (true, true, false))
    #expect(due(after: mild, strict, mild) == (false, true, false))
  }

  @Test func isInterruptedByEditsOfAnEngineWithFewerReferences() throws {
    let (strict, mild) = (Self.games([Self.home]), Self.games([]))
    var stored = StoredDeclarations()
    _ = stored.declare([strict])
    try stored.weaken(by: SyncSchema(Entity("teams"), strict))
    #expect(stored.known("games")?.withholds == false)
    try stored.weaken(by: SyncSchema(Entity("teams"), mild))
    #expect(stored.known("games")?.withholds == true)
    stored.setWithholding(StoredDeclarations.Walk(after: "g"), of: "games")
    try stored.weaken(by: SyncSchema(Entity("teams"), mild))
    stored.finishWithholding(of: "games")
    #expect(stored.known("games")?.withholds == true)
    stored.setWithholding(StoredDeclarations.Walk(), of: "games")
    stored.finishWithholding(of: "games")
    #expect(stored.known("games")?.withholds == false)
  }

  @Test func voidsARebuildByAnotherNaturalKey() {
    let (mac, serial) = (Self.games([], NaturalKey("mac")), Self.games([], NaturalKey("serial")))
    #expect(due(after: mac, serial) == (false, false, true))
    #expect(due(after: mac, nil, serial).voidsRebuild)
  }
}
