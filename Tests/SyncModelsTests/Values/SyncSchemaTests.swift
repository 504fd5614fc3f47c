import SyncModels
import Testing

@Suite("A schema of entities")
struct SyncSchemaTests {
  private func message(_ entities: Entity...) -> String {
    do throws(SyncError) {
      _ = try SyncSchema(entities)
      return "accepted"
    } catch {
      return error.code == .invalidConfiguration ? error.message : "\(error)"
    }
  }

  @Test func namesAReferenceWithoutATarget() {
    let games = Entity("games", references: [.to("teams", by: "home")])
    #expect(message(games) == "games.home refers to teams, which is not declared.")
  }

  @Test func namesEveryTypeOfACircleAndNoOther() {
    let text = message(
      Entity("x", references: [.to("a", by: "a")]), Entity("a", references: [.to("b", by: "b")]),
      Entity("b", references: [.to("c", by: "c")]), Entity("c", references: [.to("a", by: "a")]))
    #expect(text.hasPrefix("a → b → c → a refer to each other in a cycle."))
    #expect(text.contains("`ordered: false`"))
  }

  @Test func takesACircleThatAnUnorderedReferenceBreaks() throws {
    let schema = try SyncSchema(
      Entity("a", references: [.to("b", by: "b")]),
      Entity("b", references: [.to("a", by: "a", ordered: false)]))
    #expect(schema.entities.map(\.type) == ["b", "a"])
    #expect(schema.referrers(to: "a").isEmpty)
  }

  @Test func takesATypeThatRefersToItself() {
    #expect(message(Entity("a", references: [.to("a", by: "parent")])) == "accepted")
  }

  @Test(arguments: ["", "-a", "a b", "a/b", "\u{e4}", "a\"", String(repeating: "a", count: 65)])
  func refusesABadName(_ name: String) {
    #expect(message(Entity(RecordType(name))).contains("is not a valid name for a record type"))
  }

  @Test(arguments: ["a", "A9", "_a", "9-a_", String(repeating: "a", count: 64)])
  func takesAGoodName(_ name: String) {
    #expect(message(Entity(RecordType(name))) == "accepted")
  }

  @Test(arguments: ["", "a\n", String(repeating: "a", count: 129)])
  func refusesABadFieldName(_ name: String) {
    #expect(message(Entity("a", indexes: [FieldName(name)])).contains("declares a field of"))
  }

  @Test func refusesWhatIsDeclaredTwice() {
    #expect(message(Entity("a"), Entity("a")) == "The record type a is declared twice.")
    #expect(message(Entity("Teams"), Entity("teams")).contains("differ in case alone"))
    let twice = Entity("a", references: [.to("a", by: "p"), .to("a", by: "p")])
    #expect(message(twice).contains("twice"))
  }

  @Test func refusesAMeaninglessSchemaAndAnEmptyKey() {
    #expect(message(Entity("a", schemaVersion: 0)).contains("the first one is 1"))
    #expect(message(Entity("a", naturalKey: NaturalKey())).contains("has no field"))
  }

  @Test func keepsTheOrderOfDeclarationWhereReferencesLeaveItOpen() throws {
    let schema = try SyncSchema(
      Entity("d", references: [.to("b", by: "b")]), Entity("c"), Entity("b"), Entity("a"))
    #expect(schema.entities.map(\.type) == ["c", "b", "d", "a"])
  }

  @Test func requiresNeitherNullNorUnorderedReferencesNorItself() {
    let entity = Entity(
      "a",
      references: [
        .to("a", by: "p"), .to("b", by: "x"), .to("b", by: "y", ordered: false), .to("b", by: "z"),
      ])
    let record = Record(
      id: RecordID(type: "a", key: "1"), version: .unversioned, payload: Payload([]),
      fields: ["1", "7", "8", nil])
    #expect(entity.requiredReferences(of: record) == [RecordID(type: "b", key: "7")])
  }
}
