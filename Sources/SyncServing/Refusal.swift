import SyncModels

/// An answer of Kinto's shape that is not what was asked for.
struct Refusal: Error {
  var status: Int
  var errno: Int
  var message: String
  /// JSON that says more.
  var details: [UInt8]?
  var headers: [String: String]

  init(
    _ status: Int, _ errno: Int, _ message: String, details: [UInt8]? = nil, headers: [String: String] = [:]
  ) {
    (self.status, self.errno, self.message) = (status, errno, message)
    (self.details, self.headers) = (details, headers)
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
        400, 107,
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
      503, 201, "The store cannot answer now (\(error.code)). Try again later.", headers: ["Retry-After": "3"]
    )
  }

  static func parameter(
    _ name: String, _ flaw: String, in place: String = "querystring", headers: [String: String] = [:]
  ) -> Refusal {
    Refusal(
      400, 107, "\(name) in \(place): \(flaw)",
      details: .json([.json(["location": .json(place), "name": .json(name), "description": .json(flaw)])]),
      headers: headers)
  }

  static func missing(_ resource: String, _ name: String, asParent: Bool = false) -> Refusal {
    Refusal(
      404, asParent ? 111 : 110, "The resource you are looking for could not be found.",
      details: .json(["id": .json(name), "resource_name": .json(resource)]))
  }

  static let forbidden = Refusal(403, 121, "This user cannot access this resource.")
  static let unauthenticated = Refusal(
    401, 104, "Please authenticate yourself to use this endpoint.",
    headers: ["WWW-Authenticate": "Basic realm=\"records\""])
  static let unknownPath = Refusal(404, 111, "The resource you are looking for could not be found.")
  static let wrongMethod = Refusal(405, 115, "Method not allowed on this endpoint.")
  static let overload = Refusal(
    503, 201, "Too many requests at once. Try again later.", headers: ["Retry-After": "1"])

  /// - Parameter stamp: The timestamp of the record, or of the collection.
  static func modifiedMeanwhile(_ existing: [UInt8]?, _ stamp: Int64) -> Refusal {
    Refusal(
      412, 114, "Resource was modified meanwhile", details: existing.map { .json(["existing": $0]) },
      headers: Exchange.tags(stamp))
  }

  /// The names that Kinto gives statuses.
  private static let names = [
    400: "Invalid parameters", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 412: "Precondition Failed", 413: "Request Entity Too Large",
    415: "Unsupported Media Type", 500: "Internal Server Error", 503: "Service Unavailable",
  ]

  var response: ServiceResponse {
    var members: [(key: String, value: [UInt8])] = [
      ("code", .json(status)), ("errno", .json(errno)), ("error", .json(Self.names[status] ?? "Error")),
      ("message", .json(message)),
    ]
    if let details { members.append(("details", details)) }
    return .json(.object(members), status: status, headers: headers)
  }
}
