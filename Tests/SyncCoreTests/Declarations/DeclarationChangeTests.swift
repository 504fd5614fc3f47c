import CanonicalSync
import Testing

@testable import SyncCore

@Suite("A changed declaration")
struct DeclarationChangeTests {
  private static func shape(_ references: [Reference], _ key: NaturalKey? = nil) -> DeclaredShape {
    DeclaredShape(Entity("games", references: references, naturalKey: key))
  }

  private static let home = Reference.to("teams", by: "home")
  private static let away = Reference.to("teams", by: "away")
  private static let loose = Reference.to("teams", by: "home", ordered: false)

  private func change(
    from old: DeclaredShape?, to new: DeclaredShape, former: [DeclaredShape] = []
  ) -> (withholds: Bool, releases: Bool, voidsRebuild: Bool) {
    let change = DeclarationChange(from: old, to: new, former: former)
    return (change.withholds, change.releases, change.voidsRebuild)
  }

  @Test func withholdsWhatAnAddedReferenceLetsDangle() {
    #expect(change(from: Self.shape([]), to: Self.shape([Self.home])) == (true, false, false))
    #expect(change(from: Self.shape([Self.loose]), to: Self.shape([Self.home])) == (true, false, false))
  }

  @Test func releasesWhatARemovedReferenceKeptWaiting() {
    #expect(change(from: Self.shape([Self.home]), to: Self.shape([])) == (false, true, false))
    #expect(change(from: Self.shape([Self.home]), to: Self.shape([Self.loose])) == (false, true, false))
  }

  @Test func doesBothWhereAReferenceHasAnotherTarget() {
    let clubs = Reference.to("clubs", by: "home")
    #expect(change(from: Self.shape([Self.home]), to: Self.shape([clubs])) == (true, true, false))
  }

  @Test func isNoneInAnotherOrder() {
    #expect(Self.shape([Self.home, Self.away]) == Self.shape([Self.away, Self.home]))
    #expect(Self.shape([Self.loose]) == Self.shape([]))
  }

  @Test func meansNothingForATypeThatWasNeverDeclared() {
    #expect(DeclarationChange(from: nil, to: Self.shape([Self.home]), former: []).isEmpty)
  }

  @Test func doesBothForATypeThatIsDeclaredAgain() {
    let old = Self.shape([Self.home])
    #expect(change(from: nil, to: old, former: [old]) == (true, true, false))
    #expect(change(from: nil, to: Self.shape([]), former: [old]) == (false, true, false))
  }

  @Test func releasesNothingWhereTwoVersionsTakeTurns() {
    let (strict, mild) = (Self.shape([Self.home]), Self.shape([]))
    #expect(change(from: strict, to: mild, former: [mild]) == (false, false, false))
    #expect(change(from: mild, to: strict, former: [mild, strict]) == (true, false, false))
  }

  @Test func voidsARebuildByAnotherNaturalKey() {
    let (mac, serial) = (NaturalKey("mac"), NaturalKey("serial"))
    #expect(change(from: Self.shape([], mac), to: Self.shape([], serial)) == (false, false, true))
    #expect(change(from: nil, to: Self.shape([], serial), former: [Self.shape([], mac)]).voidsRebuild)
  }
}
