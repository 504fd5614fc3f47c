import SyncJSON
import SyncModels

/// An answer of Kinto's shape that is not what was asked for.
struct Refusal: Error {
  let status: Int
  let errno: Int
  let message: String
  /// JSON that says more.
  let details: [UInt8]?
  let headers: [String: String]

  /// - Parameter errno: Kinto's number of the reason, if it is not the usual one of the status.
  init(
    _ status: Int, _ message: String, errno: Int? = nil, details: [UInt8]? = nil,
    headers: [String: String] = [:]
  ) {
    self.errno = errno ?? Self.kinds[status]?.errno ?? 999
    (self.status, self.message, self.details, self.headers) = (status, message, details, headers)
  }

  /// The refusal as a thrown error: what runs in a transaction throws nothing else.
  var error: SyncError { SyncError(.invalidEdit, during: "answering a request", message, underlying: self) }

  /// The refusal that an error stands for; `nil` for a failure of the store.
  init?(_ error: SyncError) {
    if let refusal = error.underlying as? Refusal {
      self = refusal
    } else if error.code == .invalidEdit {
      // The error's own message may name records that the caller may not see.
      self.init(
        400,
        "The edit refers to a record that is not here, or others refer to its record, or the schema version is unknown."
      )
    } else {
      return nil
    }
  }

  /// The answer to a request that the store failed: a later attempt may succeed.
  init(failure error: SyncError) {
    // The message of an error has no record contents, but may have a path of this machine.
    self.init(
      503, "The store cannot answer now (\(error.code)). Try again later.", headers: ["Retry-After": "3"])
  }

  static func parameter(
    _ name: String, _ flaw: String, in place: String = "querystring", headers: [String: String] = [:]
  ) -> SyncError {
    Refusal(
      400, "\(name) in \(place): \(flaw)",
      details: .json([.json(["location": .json(place), "name": .json(name), "description": .json(flaw)])]),
      headers: headers
    ).error
  }

  static func missing(_ resource: String, _ name: String, asParent: Bool = false) -> SyncError {
    Refusal(
      404, unknownPath.message, errno: asParent ? 111 : 110,
      details: .json(["id": .json(name), "resource_name": .json(resource)])
    ).error
  }

  static let forbidden = Refusal(403, "This user cannot access this resource.").error
  static let unknownPath = Refusal(404, "The resource you are looking for could not be found.").error
  static let wrongMethod = Refusal(405, "Method not allowed on this endpoint.").error
  static let unauthenticated = Refusal(
    401, "Please authenticate yourself to use this endpoint.",
    headers: ["WWW-Authenticate": "Basic realm=\"records\""])
  static let overload = Refusal(
    503, "Too many requests at once. Try again later.", headers: ["Retry-After": "1"])

  /// - Parameter stamp: The timestamp of the record, or of the collection.
  static func modifiedMeanwhile(_ existing: [UInt8]?, _ stamp: Int64) -> SyncError {
    Refusal(
      412, "Resource was modified meanwhile", details: existing.map { .json(["existing": $0]) },
      headers: .tags(stamp)
    ).error
  }

  /// The numbers and names that Kinto gives statuses.
  private static let kinds: [Int: (errno: Int, name: String)] = [
    400: (107, "Invalid parameters"), 401: (104, "Unauthorized"), 403: (121, "Forbidden"),
    404: (111, "Not Found"), 405: (115, "Method Not Allowed"), 412: (114, "Precondition Failed"),
    415: (107, "Unsupported Media Type"), 500: (999, "Internal Server Error"),
    503: (201, "Service Unavailable"),
  ]

  var response: ServiceResponse {
    var members: [(key: String, value: [UInt8])] = [
      ("code", .json(status)), ("errno", .json(errno)),
      ("error", .json(Self.kinds[status]?.name ?? "Error")), ("message", .json(message)),
    ]
    if let details { members.append(("details", details)) }
    return .json(.object(members), status: status, headers: headers)
  }
}
