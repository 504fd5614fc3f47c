import Foundation
package import HTTPAdapters
package import KintoAdapters
import SyncJSON
package import SyncModels
import Synchronization

/// A new bucket at the server that `Tests/run` started, with the requests of other clients.
package struct RealKinto: Sendable {
  package let server: String
  package let bucket: String
  package let transport = CountingTransport()

  /// The address of the server that keeps records in memory.
  package static let address = TestTransport.server("CANONICALSYNC_KINTO")
  /// The address of the server that keeps records in PostgreSQL.
  package static let postgresAddress = TestTransport.server("CANONICALSYNC_KINTO_POSTGRESQL")
  package static let credentials = HTTPCredentials.basic(user: "tests", password: "secret")

  /// Creates a new bucket with empty collections.
  package init(_ collections: String...) async throws { try await self.init(collections) }

  /// Creates a bucket, by default a new one, with empty collections, at a given server.
  package init(
    _ collections: [String], at address: String? = Self.address, bucket: String? = nil
  ) async throws {
    guard let address else { throw CocoaError(.fileNoSuchFile) }
    server = address
    self.bucket = bucket ?? "b" + UUID().uuidString.filter { $0 != "-" }
    try await send("PUT", "")
    for name in collections { try await send("PUT", "/collections/\(name)") }
    transport.reset()
  }

  /// A source over the bucket.
  package func source(
    overlap: Duration = .seconds(5), credentials: HTTPCredentials? = Self.credentials, bucket: String? = nil
  ) throws -> KintoSource {
    var options = KintoSource.Options()
    options.allowsPlainHTTP = true
    options.overlap = overlap
    return try KintoSource(
      server: server, bucket: bucket ?? self.bucket, credentials: credentials, options: options,
      transport: transport)
  }

  /// Sends a request about the bucket.
  @discardableResult
  package func send(
    _ method: String, _ path: String, _ body: String = "{}", in address: String? = nil
  ) async throws -> HTTPResponse {
    guard let address = HTTPAddress((address ?? "\(server)/buckets/\(bucket)") + path) else {
      throw CocoaError(.fileNoSuchFile)
    }
    var request = HTTPRequest(method, address)
    request.headers["Authorization"] = "Basic \(Data("tests:secret".utf8).base64EncodedString())"
    request.headers["Content-Type"] = "application/json"
    if method != "GET", method != "DELETE" { request.body = Array(body.utf8) }
    let response = try await transport.send(request)
    guard (200...299).contains(response.status) else {
      throw SyncError(.inconsistentData, during: "\(method) \(path)", "\(response.status)")
    }
    return response
  }

  /// Writes a record with the given members.
  package func put(_ collection: String, _ key: String, _ members: String) async throws {
    try await send("PUT", "/collections/\(collection)/records/\(key)", "{\"data\":{\(members)}}")
  }

  package func delete(_ collection: String, _ key: String) async throws {
    try await send("DELETE", "/collections/\(collection)/records/\(key)")
  }

  /// Writes many records, each an object with its id.
  package func load(_ collection: String, _ objects: [(id: String, json: String)]) async throws {
    for start in stride(from: 0, to: objects.count, by: 200) {
      let requests = objects[start..<min(start + 200, objects.count)].map { object in
        let path = "/v1/buckets/\(bucket)/collections/\(collection)/records/\(object.id)"
        return #"{"method":"PUT","path":"\#(path)","body":{"data":\#(object.json)}}"#
      }
      try await send(
        "POST", "/batch", "{\"requests\":[\(requests.joined(separator: ","))]}", in: server)
    }
  }

  /// The server's records, each record's bytes by its id.
  package func listing(_ collection: String) async throws -> [String: String] {
    let body = try await send("GET", "/collections/\(collection)/records?_sort=id").body
    var records: [String: String] = [:]
    try JSONScanner.members(of: body[...]) { member throws(JSONError) in
      guard member.key == "data" else { return }
      try JSONScanner.elements(of: member.value.bytes) { element throws(JSONError) in
        var id: String?
        try JSONScanner.members(of: element.bytes) { member throws(JSONError) in
          if member.key == "id" { id = member.value.string() }
        }
        if let id { records[id] = String(decoding: element.bytes, as: UTF8.self) }
      }
    }
    return records
  }
}

/// A transport that counts requests, and lets a test act after an answer.
package final class CountingTransport: HTTPTransport {
  private let base = TestTransport.make()
  private let state = Mutex<[HTTPRequest]>([])

  package init() {}

  package var requests: [HTTPRequest] { state.withLock { $0 } }
  package func reset() { state.withLock { $0 = [] } }

  package func send(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
    state.withLock { $0.append(request) }
    return try await base.send(request)
  }
}
