import SyncJSON
import SyncModels

// Batches: requests in the body of a request.
extension ServiceRequest {
  /// Reads the requests of a batch, whose `defaults` stand for what a request leaves out.
  static func batch(_ body: [UInt8], limit: Int) throws(SyncError) -> [ServiceRequest] {
    var elements: [ArraySlice<UInt8>]?
    var defaults: ArraySlice<UInt8>?
    do {
      let members = try FieldMap(Payload(body))
      defaults = members["defaults"].flatMap { $0.first == UInt8(ascii: "{") ? $0 : nil }
      if let list = members["requests"], list.first == UInt8(ascii: "[") {
        var parts: [ArraySlice<UInt8>] = []
        try JSONScanner.elements(of: list) { element throws(JSONError) in parts.append(element.bytes) }
        elements = parts
      }
    } catch {
      throw Refusal.parameter("body", "Invalid JSON: \(error)", in: "body").error
    }
    guard let elements else { throw Refusal.parameter("requests", "Required", in: "body").error }
    guard elements.count <= limit else {
      throw Refusal.parameter("requests", "Number of requests is limited to \(limit)", in: "body").error
    }
    var requests: [ServiceRequest] = []
    for (place, element) in elements.enumerated() {
      var request = ServiceRequest("GET", "")
      do {
        for part in [defaults, element].compactMap(\.self) { try request.take(part) }
      } catch {
        throw Refusal.parameter("requests.\(place)", "is not an object", in: "body").error
      }
      guard request.target.hasPrefix("/") else {
        throw Refusal.parameter("requests.\(place).path", "Required", in: "body").error
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
      "body": bytes.isEmpty ? Array("{}".utf8) : bytes,
      "headers": .object(headers.mapValues { .json($0) }.sorted { $0.key < $1.key }),
    ])
  }
}
