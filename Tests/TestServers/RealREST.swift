import Foundation
package import HTTPAdapters
import SyncJSON
package import SyncModels
import SyncPorts

/// A new realm of the JSON API that `Tests/run` started.
package struct RealREST: Sendable {
  /// The address of the API.
  package static let address = TestTransport.server("CANONICALSYNC_REST")
  package static let credentials = HTTPCredentials.header("Authorization", .text("Token tests-token"))

  /// The realm's address, without the style of pages.
  package let server: String
  /// The realm's name.
  package let realm: String
  private let transport = TestTransport.make()

  /// Creates an empty realm.
  ///
  /// - Parameter forgets: Whether deleted records leave no mark.
  package init(forgets: Bool = false) throws {
    guard let address = Self.address else { throw CocoaError(.fileNoSuchFile) }
    realm = (forgets ? "hard" : "soft") + UUID().uuidString.filter { $0 != "-" }
    server = "\(address)/\(realm)"
  }

  /// Sends a request as another client.
  @discardableResult
  package func send(
    _ method: String, _ path: String, _ body: String = ""
  ) async throws -> HTTPResponse {
    guard let address = HTTPAddress("\(server)/\(path)") else { throw CocoaError(.fileNoSuchFile) }
    var request = HTTPRequest(method, address, body: Array(body.utf8))
    request.headers = ["Content-Type": "application/json", "Authorization": "Token tests-token"]
    let response = try await transport.send(request)
    guard (200...299).contains(response.status) || response.status == 404 else {
      throw SyncError(.invalidResponse, during: "preparing a realm", "\(response)")
    }
    return response
  }

  /// Writes a record with the given members.
  package func put(_ type: String, _ key: String, _ members: String) async throws {
    try await send("PUT", "page/\(type)/\(key)/", "{\(members)}")
  }

  package func delete(_ type: String, _ key: String) async throws {
    try await send("DELETE", "page/\(type)/\(key)/")
  }

  /// Writes many new records, each an object with its id.
  package func load(_ type: String, _ objects: [(id: String, json: String)]) async throws {
    for start in stride(from: 0, to: objects.count, by: 5000) {
      let portion = objects[start..<min(start + 5000, objects.count)].map(\.json)
      try await send("POST", "page/\(type)/", "[\(portion.joined(separator: ","))]")
    }
  }

  /// The API's records, each record's bytes by its id.
  package func listing(_ type: String) async throws -> [String: String] {
    var records: [String: String] = [:]
    for page in 1... {
      let response = try await send("GET", "page/\(type)/?page_size=5000&page=\(page)")
      guard response.status == 200 else { break }
      let whole = try JSONValueSlice(checking: response.body[...])
      guard let results = JSONPointer("/results").value(in: whole) else { break }
      try JSONScanner.elements(of: results.bytes) { element throws(JSONError) in
        if let id = JSONPointer("/id").value(in: element)?.string() {
          records[id] = String(decoding: element.bytes, as: UTF8.self)
        }
      }
    }
    return records
  }

  /// A style of the API's pages.
  package enum Style: String, CaseIterable, Sendable {
    case page, offset, cursor, linkedPage

    /// The folder of the style.
    package var folder: String { self == .linkedPage ? "page" : rawValue }

    /// The members of a description.
    package func members(pageSize: Int) -> String {
      let (paging, size) =
        switch self {
        case .page: (#"{"page":"page"}"#, "page_size")
        case .offset: (#"{"offset":"offset"}"#, "limit")
        case .cursor, .linkedPage: (#"{"next":"/next"}"#, "page_size")
        }
      let total = self == .cursor ? "" : #""total":"/count","#
      return #"\#(total)"paging":\#(paging),"pageSize":{"parameter":"\#(size)","maximum":\#(pageSize)}"#
    }
  }

  /// A description of the realm, as a person writes it.
  ///
  /// - Parameter more: Further members of each type.
  package func description(
    _ style: Style, _ types: [String], pageSize: Int = 5000, through proxy: String? = nil,
    auth: String = "env:CANONICALSYNC_REST_AUTHORIZATION", _ more: String = ""
  ) -> String {
    let types = types.map { type in
      #"""
      "\#(type)":{"path":"\#(type)/","records":"/results","version":"/changed_at",\#(style.members(pageSize: pageSize)),
        "delta":{"since":"updated_since","overlap":2},"item":"\#(type)/{id}/",
        "push":{"write":"PUT \#(type)/{id}/","delete":"DELETE \#(type)/{id}/","precondition":"etag"}\#(more)}
      """#
    }
    let base = "\(proxy.map { "\($0)/\(realm)" } ?? server)/\(style.folder)/"
    return #"""
      {"base":"\#(base)","auth":{"header":{"name":"Authorization","value":"\#(auth)"}},
       "types":{\#(types.joined(separator: ",\n"))}}
      """#
  }

  /// The API as a description, with the tests' credentials.
  package func api(
    _ style: Style, _ types: [String], pageSize: Int = 5000, through proxy: String? = nil, _ more: String = ""
  ) throws(SyncError) -> RESTAPI {
    let text = description(style, types, pageSize: pageSize, through: proxy, more)
    var api = try RESTAPI(json: Array(text.utf8), named: "api.json")
    api.credentials = Self.credentials
    return api
  }
}
