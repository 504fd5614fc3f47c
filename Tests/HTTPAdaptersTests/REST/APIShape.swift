import CanonicalSyncTestServers
import Foundation
import HTTPAdapters
import SyncModels
import Testing

/// A shape that real APIs have: how a description says it, and how such an API answers.
struct APIShape: Sendable, CustomTestStringConvertible {
  var testDescription: String
  /// Members beside `base` and `types`.
  var members = ""
  /// The types. Those of the API's records are `items`.
  var types: String
  /// The key of a record in a mirror.
  var key: @Sendable (Int) -> String = { "r\($0)" }
  /// Whether edits are pushed, and the key of a record that an app makes.
  var ownKey: String?
  var answer: @Sendable (ShapedAPI.Asked, inout ShapedAPI.Board) -> ShapedAPI.Answer

  init(
    _ name: String, _ types: String, members: String = "", ownKey: String? = nil,
    key: @escaping @Sendable (Int) -> String = { "r\($0)" },
    _ answer: @escaping @Sendable (ShapedAPI.Asked, inout ShapedAPI.Board) -> ShapedAPI.Answer
  ) {
    (testDescription, self.types, self.members, self.ownKey) = (name, types, members, ownKey)
    (self.key, self.answer) = (key, answer)
  }

  /// The variable that all secrets of these descriptions are in.
  static let secret = "API_SHAPE_SECRET"

  func description() throws -> RESTAPI {
    setenv(Self.secret, "s3cret", 1)
    let json = #"{"base":"https://api.test/v1/",\#(members)"types":{\#(types)}}"#
    return try RESTAPI(json: Array(json.utf8), named: "api.json")
  }

  static let all = lists + pages + deltas + times + access + writes
}

private typealias Answer = ShapedAPI.Answer

extension APIShape {
  // MARK: Lists

  private static let groups =
    #""groups":{"path":"groups","version":"/v"},"items":{"path":"groups/{group}/items","under":{"type":"groups","parameter":"group","as":"/group"CHANGED}}"#

  private static func under(_ name: String, changed: String) -> APIShape {
    APIShape(name, groups.replacing("CHANGED", with: changed)) { asked, board in
      func members(_ group: Int) -> [ShapedAPI.Row] { board.all.filter { $0.number % 3 == group } }
      if asked.path == "groups" {
        let list = (0..<3).map { group in
          "{\"id\":\"g\(group)\",\"v\":\(members(group).map(\.change).max() ?? 0)}"
        }
        return Answer("[\(list.joined(separator: ","))]")
      }
      guard let group = asked.path.split(separator: "/").dropFirst().first.flatMap({ Int($0.dropFirst()) })
      else { return .refused(404) }
      return Answer(members(group).filter { !$0.isDeleted }.json())
    }
  }

  static let lists = [
    under("a list under each record", changed: ""),
    under("a list under each record that has changed", changed: #","changed":true"#),
    APIShape(
      "one list for each value",
      #""items":{"path":"leagues/{league}/items","each":{"parameter":"league","values":["0","1"]},"records":"/data","paging":{"next":"/next"}}"#
    ) { asked, board in
      guard let league = asked.path.split(separator: "/").dropFirst().first.flatMap({ Int($0) }) else {
        return .refused(404)
      }
      let page = board.page(
        after: asked.query["after"].flatMap { Int($0) } ?? 0,
        of: board.live.filter { $0.number % 2 == league })
      let next = page.next.map { "\"/v1/leagues/\(league)/items?after=\($0)\"" } ?? "null"
      return Answer("{\"data\":\(page.rows.json()),\"next\":\(next)}")
    },
    APIShape(
      "only some records of a list", #""items":{"path":"feed","where":{"pointer":"/kind","equals":"game"}}"#
    ) { _, board in
      Answer(
        (board.live + board.live).enumerated().map { index, row in
          index < board.live.count
            ? row.json(id: "\"id\":\"r\(row.number)\"", #","kind":"game""#)
            : row.json(id: "\"id\":\"ad\(row.number)\"", #","kind":"ad""#)
        }.joined(separator: ",").inList)
    },
    APIShape("records inside each element", #""items":{"path":"days","records":"/days/*/games"}"#) {
      _, board in
      let days = (0..<3).map { day in
        day == 2 ? "{}" : "{\"games\":\(board.live.filter { $0.number % 2 == day }.json())}"
      }
      return Answer("{\"days\":\(days.joined(separator: ",").inList)}")
    },
    APIShape(
      "a key of several members", #""items":{"path":"items","id":["/user","/day"]}"#,
      key: { "u~0/d~1\($0)" }
    ) { _, board in
      Answer(board.live.json { $0.json(id: "\"user\":\"u~\",\"day\":\"d/\($0.number)\"") })
    },
    APIShape(
      "a body",
      #""items":{"path":"graphql","request":{"body":{"query":"query($after: String) { items }","variables":{"first":50}}},"records":"/data/items/edges/*/node","errors":"/errors","paging":{"cursor":"/data/items/end","parameter":"/variables/after","more":"/data/items/more"},"pageSize":{"parameter":"/variables/first","maximum":3}}"#
    ) { asked, board in
      guard asked.method == "POST", asked.value("query") as? String != nil,
        asked.value("variables", "first") as? Int == 3
      else { return Answer(#"{"data":null,"errors":[{"message":"no query"}]}"#) }
      let page = board.page(after: (asked.value("variables", "after") as? String).flatMap { Int($0) } ?? 0)
      let nodes = page.rows.map { "{\"node\":\($0.json())}" }.joined(separator: ",").inList
      return Answer(
        "{\"data\":{\"items\":{\"edges\":\(nodes),\"end\":\"\(page.rows.last?.number ?? 0)\",\"more\":\(page.next != nil)}}}"
      )
    },
  ]

  // MARK: Pages

  private static let paged = #""items":{"path":"items","records":"/data","item":"items/{id}","paging":"#

  /// A list in pages, and single records.
  private static func paged(
    _ name: String, _ paging: String, members: String = "", parameter: String,
    _ answer:
      @escaping @Sendable (ShapedAPI.Asked, (rows: [ShapedAPI.Row], next: Int?)) -> ShapedAPI.Answer
  ) -> APIShape {
    APIShape(name, paged + paging + "}", members: members) { asked, board in
      if let row = board.single(asked) { return row }
      let after = asked.query[parameter].map { Int($0.filter(\.isNumber)) ?? 0 }
      return answer(asked, board.page(after: after ?? 0))
    }
  }

  static let pages = [
    paged(
      "a flag beside a cursor that never ends", #"{"cursor":"/next","parameter":"c","more":"/has_more"}"#,
      parameter: "c"
    ) { _, page in
      Answer(
        "{\"data\":\(page.rows.json()),\"next\":\"\(page.rows.last?.number ?? 0)\",\"has_more\":\(page.next != nil)}"
      )
    },
    paged(
      "a flag of the other sense",
      #"{"cursor":"/next","parameter":"c","more":{"pointer":"/end_of_stream","equals":false}}"#,
      parameter: "c"
    ) { _, page in
      Answer(
        "{\"data\":\(page.rows.json()),\"next\":\"\(page.rows.last?.number ?? 0)\",\"end_of_stream\":\(page.next == nil)}"
      )
    },
    paged(
      "a cursor of the last record", #"{"after":"/id","parameter":"starting_after","more":"/has_more"}"#,
      parameter: "starting_after"
    ) { _, page in
      Answer("{\"data\":\(page.rows.json()),\"has_more\":\(page.next != nil)}")
    },
    paged(
      "a cursor that is sent first", #"{"cursor":"/next","parameter":"c","first":"*"}"#, parameter: "c"
    ) { asked, page in
      // Without the cursor, such an API shows the first page alone.
      let next = asked.query["c"] == nil ? nil : page.next
      return Answer("{\"data\":\(page.rows.json()),\"next\":\(next.map { "\"\($0)\"" } ?? "null")}")
    },
    paged(
      "a cursor in a header", #"{"cursor":{"header":"X-Next-Cursor"},"parameter":"c"}"#, parameter: "c"
    ) { _, page in
      Answer(
        "{\"data\":\(page.rows.json())}", headers: page.next.map { ["X-Next-Cursor": "\($0)"] } ?? [:])
    },
    paged("next links of an inner host", #"{"next":"/next","rebase":true}"#, parameter: "after") { _, page in
      let next = page.next.map { "\"http://10.0.0.7:8080/v1/items?after=\($0)\"" } ?? "null"
      return Answer("{\"data\":\(page.rows.json()),\"next\":\(next)}")
    },
  ]

  // MARK: Changes

  static let deltas = [
    APIShape(
      "a delta by an address",
      #""items":{"path":"items","records":"/value","deleted":"/gone","paging":{"next":"/@odata.nextLink"},"delta":{"next":"/@odata.deltaLink"}}"#
    ) { asked, board in
      let base = "https://api.test/v1/items"
      if let since = asked.query["delta"].flatMap({ Int($0) }) {
        let rows = board.all.filter { $0.change > since }
        return Answer(
          "{\"value\":\(rows.json()),\"@odata.deltaLink\":\"\(base)?delta=\(board.changes)\"}")
      }
      let page = board.page(after: asked.query["skip"].flatMap { Int($0) } ?? 0)
      let link =
        page.next.map { "\"@odata.nextLink\":\"\(base)?skip=\($0)\"" }
        ?? "\"@odata.deltaLink\":\"\(base)?delta=\(board.changes)\""
      return Answer("{\"value\":\(page.rows.json()),\(link)}")
    },
    APIShape(
      "a mark that is an object",
      #""items":{"path":"items","records":"/value","deleted":{"pointer":"/@removed","exists":true},"delta":{"token":"/token","parameter":"token"}}"#
    ) { asked, board in
      let since = asked.query["token"].flatMap { Int($0) }
      let rows = since.map { since in board.all.filter { $0.change > since } } ?? board.live
      let list = rows.json { row in
        row.isDeleted ? "{\"id\":\"r\(row.number)\",\"@removed\":{\"reason\":\"deleted\"}}" : row.json()
      }
      return Answer("{\"value\":\(list),\"token\":\"\(board.changes)\"}")
    },
    APIShape(
      "one parameter for cursor and token",
      #""items":{"path":"_changes","query":{"include_docs":"true"},"records":"/results","deleted":"/gone","paging":{"cursor":"/last_seq","parameter":"since","more":"/pending"},"delta":{"token":"/last_seq","parameter":"since"},"pageSize":{"parameter":"limit","maximum":3}}"#
    ) { asked, board in
      let since = asked.query["since"].flatMap { Int($0) } ?? 0
      let rows = board.all.filter { $0.change > since }.sorted { $0.change < $1.change }
      let page = Array(rows.prefix(3))
      return Answer(
        "{\"results\":\(page.json()),\"last_seq\":\"\(page.last?.change ?? since)\",\"pending\":\(rows.count - page.count)}"
      )
    },
  ]

  // MARK: Times

  /// Records that have changed since a time.
  private static func since(_ text: String?, _ board: ShapedAPI.Board) -> [ShapedAPI.Row] {
    guard let text else { return board.live }
    return board.all.filter { $0.time >= text }
  }

  private static func version(
    _ layout: String, _ text: @escaping @Sendable (ShapedAPI.Row) -> String
  ) -> APIShape {
    APIShape(
      "versions as \(layout)",
      #""items":{"path":"items","version":{"pointer":"/ts","layout":"\#(layout)"}}"#
    ) { _, board in
      Answer(board.live.json { $0.json(id: "\"id\":\"r\($0.number)\",\"ts\":\"\(text($0))\"") })
    }
  }

  static let times = [
    APIShape(
      "a window of time in steps",
      #""items":{"path":"items","version":"/at","deleted":"/gone","delta":{"since":"from","until":"to","window":86400,"start":"2025-12-31T00:00:00Z"}}"#
    ) { asked, board in
      if asked.method == "HEAD" { return Answer("") }
      guard let from = asked.query["from"], let to = asked.query["to"] else { return .refused() }
      return Answer(board.all.filter { $0.time >= from.wholeSecond && $0.time < to.wholeSecond }.json())
    },
    APIShape(
      "a time in another layout, inside a text",
      #""items":{"path":"items","version":"/at","deleted":"/gone","delta":{"since":"updated","template":"gte.{since}","layout":"yyyy-MM-dd HH:mm:ss"}}"#
    ) { asked, board in
      guard let text = asked.query["updated"] else { return Answer(board.live.json()) }
      guard text.hasPrefix("gte.") else { return .refused() }
      return Answer(since(text.dropFirst(4).replacing(" ", with: "T") + "Z", board).json())
    },
    version("number") { "1503435956.\(String(1_000_000 + $0.change).dropFirst())" },
    version("rfc2822") { HTTPDateText.text($0.at.microseconds / 1000) },
    version("yyyy-MM-dd HH:mm:ss") { $0.time.replacing("T", with: " ").replacing("Z", with: "") },
  ]

  // MARK: Access

  static let access = [
    APIShape(
      "further headers", #""items":{"path":"items","headers":{"Accept":"application/vnd.items+json"}}"#,
      members: #""headers":{"Api-Version":"2026-01-01","Accept":"text/json","X-Org":"env:\#(secret)"},"#
    ) { asked, board in
      let right = ["Api-Version": "2026-01-01", "Accept": "application/vnd.items+json", "X-Org": "s3cret"]
      guard right.allSatisfy({ asked.headers[$0.key] == $0.value }) else { return .refused() }
      return Answer(board.live.json())
    },
    APIShape(
      "OAuth", #""items":{"path":"items","records":"/data","paging":{"next":"/next"},"item":"items/{id}"}"#,
      members:
        #""auth":{"oauth2":{"tokenURL":"https://api.test/v1/token","clientID":"env:\#(secret)","clientSecret":"env:\#(secret)"}},"#
    ) { asked, board in
      if asked.path == "token" {
        board.tokens = (board.tokens.given + 1, 0)
        return Answer(#"{"access_token":"t\#(board.tokens.given)","token_type":"bearer","expires_in":3600}"#)
      }
      // A token that was withdrawn before its end.
      board.tokens.used += 1
      guard asked.headers["Authorization"] == "Bearer t\(board.tokens.given)", board.tokens.used <= 2 else {
        return .refused(401)
      }
      if let row = board.single(asked) { return row }
      let page = board.page(after: asked.query["after"].flatMap { Int($0) } ?? 0)
      let next = page.next.map { "\"/v1/items?after=\($0)\"" } ?? "null"
      return Answer("{\"data\":\(page.rows.json()),\"next\":\(next)}")
    },
    paged(
      "the key in the query", #"{"next":"/next"}"#,
      members: #""auth":{"query":{"name":"api_key","value":"env:\#(secret)"}},"#, parameter: "after"
    ) { asked, page in
      guard asked.query["api_key"] == "s3cret" else { return .refused(401) }
      let next = page.next.map { "\"/v1/items?api_key=s3cret&after=\($0)\"" } ?? "null"
      return Answer("{\"data\":\(page.rows.json()),\"next\":\(next)}")
    },
    APIShape(
      "an account", #""items":{"path":"items"}"#,
      members: #""auth":{"bearer":"env:\#(secret)"},"account":{"path":"me","id":"/id"},"#
    ) { asked, board in
      guard asked.headers["Authorization"] == "Bearer s3cret" else { return .refused(401) }
      return Answer(asked.path == "me" ? #"{"id":7}"# : board.live.json())
    },
  ]

  // MARK: Writes

  private static func creating(_ name: String, _ member: String) -> APIShape {
    APIShape(
      name,
      #""items":{"path":"items","item":"items/{id}","push":{"create":"POST items","write":"PATCH items/{id}","delete":"DELETE items/{id}",\#(member)}}"#,
      ownKey: "own"
    ) { asked, board in
      if asked.method == "POST" {
        guard asked.value("id") == nil, let value = asked.value("n") as? Int,
          let name = asked.value("ext") as? String
        else { return .refused(422) }
        let key = asked.headers["Idempotency-Key"]
        let number = key.flatMap { board.made[$0] } ?? 100 + board.rows.count
        if board.rows[number] == nil {
          board.put(number, value, member: ",\"ext\":\"\(name)\"", at: board.now)
        }
        if let key { board.made[key] = number }
        return Answer(board.rows[number]?.json() ?? "", status: 201)
      }
      if let row = board.single(asked) { return row }
      let wanted = asked.query["ext"].map { ",\"ext\":\"\($0)\"" }
      return Answer(board.live.filter { wanted == nil || $0.member == wanted }.json())
    }
  }

  static let writes = [
    creating(
      "ids given by the server, for an idempotency key", #""idempotency":{"header":"Idempotency-Key"}"#),
    creating("ids given by the server, found by a member", #""find":"items?ext={key}""#),
    APIShape(
      "a record wrapped in a member",
      #""items":{"path":"items","records":"/products","version":"/at","item":{"path":"items/{id}","record":"/product"},"push":{"write":"PUT items/{id}","delete":"DELETE items/{id}","body":"/product"}}"#,
      ownKey: "r100"
    ) { asked, board in
      if let row = board.single(asked, wrappedIn: "product") { return row }
      return Answer("{\"products\":\(board.live.json())}")
    },
  ]
}

extension String {
  fileprivate var inList: String { "[\(self)]" }

  /// A time in ISO 8601 without a fraction.
  fileprivate var wholeSecond: String { prefix(19) + "Z" }
}

extension ShapedAPI.Board {
  /// The answer to a request for one record, or to a write of one; `nil` for other requests.
  fileprivate mutating func single(
    _ asked: ShapedAPI.Asked, wrappedIn name: String? = nil
  ) -> ShapedAPI.Answer? {
    guard asked.path.hasPrefix("items/") else { return nil }
    guard let number = Int(asked.path.dropFirst("items/r".count)) else { return .refused(404) }
    let isThere = rows[number].map { !$0.isDeleted } ?? false
    switch asked.method {
    case "PUT", "PATCH":
      let value = name.map { asked.value($0, "n") } ?? asked.value("n")
      guard let value = value as? Int else { return .refused(422) }
      guard isThere || asked.method == "PUT" else { return .refused(404) }
      put(number, value, at: now)
    case "DELETE":
      guard isThere else { return .refused(404) }
      put(number, nil, at: now)
      return ShapedAPI.Answer("", status: 204)
    default: if !isThere { return .refused(404) }
    }
    let json = rows[number]?.json() ?? ""
    return ShapedAPI.Answer(name.map { "{\"\($0)\":\(json)}" } ?? json)
  }
}
