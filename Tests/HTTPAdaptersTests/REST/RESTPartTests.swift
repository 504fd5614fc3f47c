import CanonicalSync
import SyncAdapters
import SyncJSON
import Testing

@testable import HTTPAdapters

@Suite("The parts of a JSON API")
struct RESTPartTests {
  @Test(
    arguments: [
      ("", #"{"a":[1,{"b/c":2}],"":3,"~":4,"a ":null}"#), ("/a/0", "1"), ("/a/1/b~1c", "2"), ("/", "3"),
      ("/~0", "4"),
      ("/a ", "null"), ("/a/2", nil), ("/a/01", nil), ("/a/-", nil), ("/x", nil), ("/a/0/b", nil),
    ] as [(String, String?)])
  func aPointerLeadsToItsPlace(_ text: String, _ value: String?) throws {
    let json = #"{"a":[1,{"b/c":2}],"":3,"~":4,"a ":null}"#
    let whole = try JSONValueSlice(checking: Array(json.utf8)[...])
    let found = try #require(JSONPointer(text)).value(in: whole)
    #expect(found.map { String(decoding: $0.bytes, as: UTF8.self) } == value)
  }

  @Test func aPointerFindsTheLastOfRepeatedMembers() throws {
    let whole = try JSONValueSlice(checking: Array(#"{"a":{"b":1},"a":{"c":2}}"#.utf8)[...])
    #expect(JSONPointer("/a/b").value(in: whole) == nil)
    let values = JSONPointer.values(at: ["/a/c", "/a", "/x"], in: whole)
    #expect(values.map { $0.map { String(decoding: $0.bytes, as: UTF8.self) } } == ["2", #"{"c":2}"#, nil])
  }

  @Test(arguments: ["a", "/a~", "/a~2"])
  func otherTextIsNoPointer(_ text: String) { #expect(JSONPointer(text) == nil) }

  @Test(
    arguments: [
      (#"<https://a.test/2>; rel="next""#, "https://a.test/2"),
      (#"<?p=1>; rel=prev, <?p=3>; rel=next"#, "?p=3"),
      (#"<x,y>; title="a, \"<b>; rel=next\""; rel="last NEXT""#, "x,y"),
      (#"<x>;rel=next;anchor="/other", <y>;rel=next"#, "y"), (#"<x>; rel="prev""#, nil), ("", nil),
      ("<x", nil),
      ("<x>; rel", nil),
    ] as [(String, String?)])
  func aLinkIsFoundByItsRelation(_ header: String, _ target: String?) {
    #expect(LinkHeader.target(of: "next", in: header) == target)
  }

  @Test(
    arguments: [
      ("?page=2", "https://a.test/v1/items?page=2"), ("next", "https://a.test/v1/next"),
      ("./b/../c?x=1#f", "https://a.test/v1/c?x=1"), ("/r", "https://a.test/r"),
      ("//b.test/r", "https://b.test/r"),
      ("http://c.test", "http://c.test/"), ("../../../r", "https://a.test/r"), ("", nil), ("mailto:a", nil),
    ] as [(String, String?)])
  func aReferenceIsResolved(_ reference: String, _ address: String?) throws {
    let base = try #require(HTTPAddress("https://a.test/v1/items?limit=2"))
    #expect(base.resolving(reference)?.description == address)
  }

  @Test(arguments: [
    ("?page=2&n=5", true), ("?page=3&n=5", false), ("?n=5&offset=5", true), ("?n=5&cursor=abc", false),
    ("?n=5&after=4711", false),
  ])
  func aLinkThatCountsPagesIsNoticed(_ next: String, counts: Bool) throws {
    let first = try #require(HTTPAddress("https://a.test/v1/items?n=5"))
    #expect(first.resolving(next)?.counts(from: first, rows: 5) == counts)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (951_782_400_000_000, "2000-02-29T00:00:00Z"),
    (1_795_503_599_999_999, "2026-11-24T06:59:59Z"), (-1, "1969-12-31T23:59:59Z"),
  ])
  func aTimeIsWrittenAndReadBack(_ microseconds: Int64, _ text: String) {
    #expect(Timestamp(microseconds: microseconds).rfc3339 == text)
    #expect(Timestamp(iso8601: text).map { Timestamp(microseconds: microseconds) - .seconds(1) < $0 } == true)
  }

  @Test func tokensAreReadBack() {
    var token = RESTToken(
      .pages([.init(target: "/a?b=1", tag: "W/\"x,;y\""), .init(target: "/a?b=2", tag: nil)]),
      listedAt: Timestamp(microseconds: 7))
    token.relists = true
    #expect(RESTToken(token.syncToken) == token)
    var bookmark = RESTBookmark(
      coverage: .delta, base: token, candidate: RESTToken(.token("é ="), listedAt: .init(microseconds: 1)))
    bookmark.place = .cursor("c d")
    bookmark.ends = .init(first: "a b", last: "", count: 2)
    bookmark.tagged = []
    (bookmark.pages, bookmark.rows, bookmark.total, bookmark.hasMoved) = (1, 2, 3, true)
    #expect(RESTBookmark(bookmark.pageToken) == bookmark)
    #expect(RESTToken("kinto1:1:2:3") == nil)
    #expect(RESTBookmark(PageToken("rest1page pages=1")) == nil)
  }
}
