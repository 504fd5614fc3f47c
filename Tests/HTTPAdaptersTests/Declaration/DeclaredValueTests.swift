import CanonicalSync
import Testing

@testable import HTTPAdapters

@Suite("A declaration")
struct DeclaredValueTests {
  private static func value(_ json: String) throws -> DeclaredValue {
    try DeclaredValue(Array(json.utf8), of: "api.json")
  }

  private enum Pace: String, CaseIterable { case slow, fast }

  @Test func givesTypedValuesOfItsMembers() throws {
    let object = try Self.value(
      #"{"text":"a","flag":true,"number":7,"pause":1.5,"pace":"fast","list":["x"],"none":null}"#
    ).object(["text", "flag", "number", "pause", "pace", "list", "none"])
    #expect(try object.required("text").text() == "a")
    #expect(try object.required("flag").flag())
    #expect(try object.required("number").wholeNumber(in: 1...7) == 7)
    #expect(try object.required("pause").seconds(in: 0...2) == .milliseconds(1500))
    #expect(try object.required("pace").choice(of: Pace.self) == .fast)
    #expect(try object.required("list").elements().map { try $0.text() } == ["x"])
    #expect(object["none"] == nil)
    #expect(object["absent"] == nil)
  }

  /// Reads a value as it is not meant to be read, and returns the message.
  private static func complaint(
    _ json: String, _ read: (DeclaredValue) throws -> Void
  ) throws -> String {
    let value = try value(json)
    let error = #expect(throws: SyncError.self) { try read(value) }
    #expect(error?.code == .invalidConfiguration)
    #expect(error?.operation == "reading api.json")
    return error?.message ?? ""
  }

  @Test func namesThePathAndWhatWasFound() throws {
    func inner(_ json: String, _ read: (DeclaredValue) throws -> Void) throws -> String {
      try Self.complaint(#"{"types":{"games":\#(json)}}"#) { root in
        let games = try root.object(["types"]).required("types").entries()[0].value
        try read(games)
      }
    }
    #expect(try inner("3") { _ = try $0.text() } == "types.games is a number, not text.")
    #expect(try inner(#""""#) { _ = try $0.text() } == "types.games is empty.")
    #expect(try inner("null") { _ = try $0.flag() } == "types.games is null, not true or false.")
    #expect(try inner(#""x""#) { _ = try $0.elements() } == "types.games is text, not a list.")
    #expect(try inner("[]") { _ = try $0.entries() } == "types.games is a list, not an object.")
    #expect(
      try inner("[1, 2]") { _ = try $0.elements()[1].text() } == "types.games[1] is a number, not text.")
    #expect(
      try inner("0") { _ = try $0.wholeNumber(in: 1...9) }
        == "types.games must be a whole number from 1 to 9.")
    #expect(
      try inner("1.5") { _ = try $0.wholeNumber(in: 1...9) }
        == "types.games must be a whole number from 1 to 9.")
    #expect(
      try inner("-1") { _ = try $0.seconds(in: 0...9) } == "types.games must be from 0.0 to 9.0 seconds.")
    #expect(
      try inner(#"{"a":1,"\u0061":2}"#) { _ = try $0.object(["a"]) }
        == #"types.games has two members "a"."#)
    #expect(try inner("{}") { _ = try $0.object(["a"]).required("a") } == #"types.games lacks "a"."#)
    #expect(
      try inner(#""fats""#) { _ = try $0.choice(of: Pace.self) }
        == #"types.games is "fats"; did you mean "fast"?"#)
  }

  @Test func namesTheNearestKnownMember() throws {
    #expect(
      try Self.complaint(#"{"pagign":1}"#) { _ = try $0.object(["paging", "path"]) }
        == #"pagign is not a known member; did you mean "paging"?"#)
    #expect(
      try Self.complaint(#"{"colour":1}"#) { _ = try $0.object(["paging", "path"]) }
        == "colour is not a known member; known are paging, path.")
  }

  @Test func tellsShapesApartByTheirFirstMember() throws {
    let shapes: KeyValuePairs = ["next": [], "cursor": ["parameter"]]
    let (shape, object) = try Self.value(#"{"parameter":"c","cursor":"/c"}"#).variant(shapes)
    #expect(shape == "cursor")
    #expect(try object.required("parameter").text() == "c")
    #expect(
      try Self.complaint("{}") { _ = try $0.variant(shapes) }
        == "The declaration has none of the members next, cursor.")
    #expect(
      try Self.complaint(#"{"nxt":1}"#) { _ = try $0.variant(shapes) }
        == #"The declaration has the unknown member "nxt"; did you mean "next"?"#)
    #expect(
      try Self.complaint(#"{"next":"/n","cursor":"/c"}"#) { _ = try $0.variant(shapes) }
        == #"The declaration has both "next" and "cursor"; only one is possible."#)
    #expect(
      try Self.complaint(#"{"next":"/n","parameter":"c"}"#) { _ = try $0.variant(shapes) }
        == "parameter is not a known member; known are next.")
  }

  @Test func holdsNoSecrets() throws {
    #expect(try Self.value(#""env:TOKEN""#).secret() == .environment("TOKEN"))
    #expect(try Self.value(#""file:/run/key""#).secret() == .file("/run/key"))
    for wrong in ["s3cret", "env:", "file:", "environment:TOKEN"] {
      let message = try Self.complaint(#"{"auth":"\#(wrong)"}"#) {
        _ = try $0.object(["auth"]).required("auth").secret()
      }
      #expect(message.hasPrefix("auth must tell where the secret is"))
      #expect(!message.contains("s3cret"))
    }
  }

  @Test func thatIsNotJSONSaysWhere() {
    let error = #expect(throws: SyncError.self) { _ = try Self.value(#"{"base":}"#) }
    #expect(error?.description.contains("has an unexpected byte, at line 1, column 9") == true)
    let second = #expect(throws: SyncError.self) { _ = try Self.value("{\n \"ä\":}") }
    #expect(second?.description.contains("at line 2, column 6") == true)
    #expect(error?.operation == "reading api.json")
  }

  private static func schema(_ json: String) throws -> SyncSchema {
    let types = try value(json).object(["types"]).required("types")
    var entities: [Entity] = []
    for (name, type) in try types.entries() {
      entities.append(try Entity(RecordType(name), from: type.object(Entity.declaredMembers)))
    }
    return try types.schema(of: entities)
  }

  @Test func declaresTypesWithReferencesAndIndexes() throws {
    let schema = try Self.schema(
      #"""
      {"types":{"games":{"references":{"home":"teams","next":{"type":"games","ordered":false}},"indexes":["date"]},
      "teams":{}}}
      """#)
    #expect(schema.entities.map(\.type) == ["teams", "games"])
    #expect(
      schema["games"]
        == Entity(
          "games", references: [.to("teams", by: "home"), .to("games", by: "next", ordered: false)],
          indexes: ["date"]))
  }

  @Test(arguments: [
    (#"{"types":{}}"#, "types declares no type."),
    (
      #"{"types":{"games":{"references":{"home":"team"}},"teams":{}}}"#,
      #"types declares that games.home refers to "team", which is not declared; did you mean "teams"?"#
    ),
    (#"{"types":{"games":{"references":{"home":1}}}}"#, "types.games.references.home is a number, not text."),
    (#"{"types":{"games":{"indexes":"date"}}}"#, "types.games.indexes is text, not a list."),
    (#"{"types":{"ga/mes":{}}}"#, #"types is not a valid schema. "ga/mes" is not a valid name"#),
  ])
  func complainsOfTypes(_ json: String, _ message: String) {
    let error = #expect(throws: SyncError.self) { _ = try Self.schema(json) }
    #expect(error?.message.hasPrefix(message) == true, "\(error?.message ?? "")")
  }
}
