import SyncJSON
import SyncModels

// Batches: requests in the body of a request.
extension ServiceRequest {
  /// Reads the requests of a batch, whose `defaults` stand for what a request leaves out.
  static func batch(_ body: [UInt8], limit: Int) throws(SyncError) -> [ServiceRequest] {
    let members = try FieldMap(body: body)
    var elements: [ArraySlice<UInt8>] = []
    guard let list = members["requests"],
      (try? JSONScanner.elements(of: list) { elements.append($0.bytes) }) != nil
    else { throw Refusal.parameter("requests", "Required", in: "body") }
    guard elements.count <= limit else {
      throw Refusal.parameter("requests", "Number of requests is limited to \(limit)", in: "body")
    }
    var requests: [ServiceRequest] = []
    for (place, element) in elements.enumerated() {
      var request = ServiceRequest("GET", "")
      // Defaults that are no object are none.
      if let defaults = members["defaults"] { try? request.take(defaults) }
      guard (try? request.take(element)) != nil else {
        throw Refusal.parameter("requests.\(place)", "is not an object", in: "body")
      }
      guard request.target.hasPrefix("/") else {
        throw Refusal.parameter("requests.\(place).path", "Required", in: "body")
      }
      requests.append(request)
    }
    return requests
  }

  private mutating func take(_ json: ArraySlice<UInt8>) throws(JSONError) {
    try JSONScanner.members(of: json) { member throws(JSONError) in
      switch member.key {
      case "method": method = member.value.string()?.uppercased() ?? ""
      case "path": target = member.value.string() ?? ""
      case "body" where !member.value.isNull: body = Array(member.value.bytes)
      case "headers" where member.value.kind == .object:
        try JSONScanner.members(of: member.value.bytes) { header throws(JSONError) in
          headers[header.key.lowercased()] = header.value.string()
        }
      default: break
      }
    }
  }
}

extension ServiceResponse {
  /// The answer as an element of a batch's answer.
  func part(of request: ServiceRequest) -> [UInt8] {
    let target = request.target
    return .json([
      "status": .json(status), "path": .json(target.hasPrefix("/v1/") ? target : "/v1\(target)"),
      "body": bytes.isEmpty ? .json([:]) : bytes,
      "headers": .object(headers.mapValues { .json($0) }.sorted { $0.key < $1.key }),
    ])
  }
}
