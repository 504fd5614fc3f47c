import SyncJSON
import SyncModels

extension PastSync {
  /// The entry as JSON, without members that say nothing.
  ///
  /// Each sync writes one. It is spelled out because the first use of the generic encoder by a type
  /// takes longer than all else that a small sync writes.
  package var json: [UInt8] {
    var json = Array("{\"number\":\(number),\"fence\":\(fence),\"triggers\":".utf8)
    Self.append(triggers, to: &json, in: ("[", "]")) { JSONString.append($0, to: &$1) }
    json += ",\"began\":\(began.microseconds),\"outcome\":\"\(outcome.rawValue)\"".utf8
    json += ",\"seconds\":\(seconds)".utf8
    if let failure {
      json += ",\"failure\":".utf8
      Self.append(failure, to: &json)
    }
    if !typeFailures.isEmpty {
      json += ",\"typeFailures\":".utf8
      Self.append(typeFailures, to: &json, in: ("[", "]")) { failure, json in
        json += "{\"type\":".utf8
        JSONString.append(failure.type.rawValue, to: &json)
        json += ",\"failure\":".utf8
        Self.append(failure.failure, to: &json)
        json += "}".utf8
      }
    }
    if !counts.isEmpty {
      json += ",\"counts\":".utf8
      Self.append(counts, to: &json, in: ("{", "}")) { type, json in
        JSONString.append(type.key.rawValue, to: &json)
        json += ":".utf8
        Self.append(type.value, to: &json)
      }
    }
    if !pushed.isEmpty {
      json += ",\"pushed\":".utf8
      Self.append(pushed, to: &json)
    }
    if bytes > 0 { json += ",\"bytes\":\(bytes)".utf8 }
    if retries > 0 { json += ",\"retries\":\(retries)".utf8 }
    if fetchingSeconds > 0 { json += ",\"fetchingSeconds\":\(fetchingSeconds)".utf8 }
    if writingSeconds > 0 { json += ",\"writingSeconds\":\(writingSeconds)".utf8 }
    json += "}".utf8
    return json
  }

  /// Appends elements or members, with commas between them.
  private static func append<Part>(
    _ parts: some Sequence<Part>, to json: inout [UInt8], in brackets: (open: Character, close: Character),
    _ append: (Part, inout [UInt8]) -> Void
  ) {
    json += brackets.open.utf8
    var isFirst = true
    for part in parts {
      if !isFirst { json += ",".utf8 }
      isFirst = false
      append(part, &json)
    }
    json += brackets.close.utf8
  }

  private static func append(_ counts: [String: Int], to json: inout [UInt8]) {
    append(counts, to: &json, in: ("{", "}")) { count, json in
      JSONString.append(count.key, to: &json)
      json += ":\(count.value)".utf8
    }
  }

  private static func append(_ failure: PassOutcomes.Failure, to json: inout [UInt8]) {
    json += "{\"code\":".utf8
    JSONString.append(failure.code, to: &json)
    json += ",\"message\":".utf8
    JSONString.append(failure.message, to: &json)
    if let retryAt = failure.retryAt { json += ",\"retryAt\":\(retryAt.microseconds)".utf8 }
    json += "}".utf8
  }
}
