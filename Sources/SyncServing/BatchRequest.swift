import SyncJSON
import SyncModels

/// One request of a batch.
struct BatchRequest {
  var request: ServiceRequest

  /// Reads a batch, whose `defaults` stand for what a request leaves out.
  static func read(_ body: [UInt8], limit: Int) throws(SyncError) -> [BatchRequest] {
    var requests: [BatchRequest] = []
    var elements: [ArraySlice<UInt8>]?
    var defaults: ArraySlice<UInt8>?
    do {
      try JSONScanner.validate(body[...])
      try JSONScanner.members(of: body[...]) { member throws(JSONError) in
        if member.key == "defaults", member.value.kind == .object { defaults = member.value.bytes }
        guard member.key == "requests", member.value.kind == .array else { return }
        var parts: [ArraySlice<UInt8>] = []
        try JSONScanner.elements(of: member.value.bytes) { (element) throws(JSONError) in
          parts.append(element.bytes)
        }
        elements = parts
      }
    } catch {
      throw Refusal.parameter("body", "Invalid JSON: \(error)", in: "body").error
    }
    guard let elements else { throw Refusal.parameter("requests", "Required", in: "body").error }
    guard elements.count <= limit else {
      throw Refusal.parameter("requests", "Number of requests is limited to \(limit)", in: "body").error
    }
    for (place, element) in elements.enumerated() {
      var request = ServiceRequest("GET", "")
      if let defaults { try take(defaults, into: &request, place) }
      try take(element, into: &request, place)
      guard request.target.hasPrefix("/") else {
        throw Refusal.parameter("requests.\(place).path", "Required", in: "body").error
      }
      requests.append(BatchRequest(request: request))
    }
    return requests
  }

  private static func take(
    _ json: ArraySlice<UInt8>, into request: inout ServiceRequest, _ place: Int
  ) throws(SyncError) {
    var result = request
    do {
      try JSONScanner.members(of: json) { member throws(JSONError) in
        switch member.key {
        case "method": result.method = member.value.string()?.uppercased() ?? ""
        case "path": result.target = member.value.string() ?? ""
        case "body" where !member.value.isNull: result.body = Array(member.value.bytes)
        case "headers" where member.value.kind == .object:
          try JSONScanner.members(of: member.value.bytes) { header throws(JSONError) in
            result.headers[header.key.lowercased()] = header.value.string()
          }
        default: break
        }
      }
    } catch {
      throw Refusal.parameter("requests.\(place)", "is not an object", in: "body").error
    }
    request = result
  }

  /// The body of a batch's answer.
  static func body(_ answers: [(BatchRequest, ServiceResponse)]) -> [UInt8] {
    var json = Array("{\"responses\":[".utf8)
    for (place, (part, response)) in answers.enumerated() {
      if place > 0 { json.append(UInt8(ascii: ",")) }
      json += Array("{\"status\":\(response.status),\"path\":".utf8)
      let target = part.request.target
      JSONString.append(target.hasPrefix("/v1/") ? target : "/v1\(target)", to: &json)
      json += Array(",\"body\":".utf8)
      json += response.bytes.isEmpty ? Array("{}".utf8) : response.bytes
      json += Array(",\"headers\":{".utf8)
      for (number, header) in response.headers.sorted(by: { $0.key < $1.key }).enumerated() {
        if number > 0 { json.append(UInt8(ascii: ",")) }
        JSONString.append(header.key, to: &json)
        json.append(UInt8(ascii: ":"))
        JSONString.append(header.value, to: &json)
      }
      json += Array("}}".utf8)
    }
    return json + Array("]}".utf8)
  }
}
