import SyncJSON
import SyncModels

extension PassOutcomes: StoredForm {
  /// The JSON that the store keeps, without members that are `nil`.
  package var json: [UInt8] {
    var json = Array("{\"consecutiveFailures\":\(consecutiveFailures)".utf8)
    json += ",\"successes\":\(successes),\"failures\":\(failures)".utf8
    json.appendMember("lastSuccess", lastSuccess?.microseconds)
    json.appendMember("lastAttempt", lastAttempt?.microseconds)
    if let lastError {
      json += ",\"lastError\":".utf8
      lastError.append(to: &json)
    }
    json += "}".utf8
    return json
  }

  /// Reads the form of ``json``.
  package init(_ members: StoredMembers) throws(StoredFormError) {
    self.init()
    consecutiveFailures = try members.value("consecutiveFailures") { $0.count() }
    successes = try members.value("successes") { $0.count() }
    failures = try members.value("failures") { $0.count() }
    lastSuccess = try members.value(ifPresent: "lastSuccess") { $0.timestamp() }
    lastAttempt = try members.value(ifPresent: "lastAttempt") { $0.timestamp() }
    lastError = try members.value(ifPresent: "lastError", Failure.init)
  }
}

extension PassOutcomes.Failure {
  /// Appends the JSON that the store keeps.
  func append(to json: inout [UInt8]) {
    json += "{\"code\":".utf8
    JSONString.append(code, to: &json)
    json.appendMember("message", message)
    json.appendMember("retryAt", retryAt?.microseconds)
    json += "}".utf8
  }

  /// Reads what ``append(to:)`` writes.
  init(_ value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      code: try members.value("code") { $0.string() },
      message: try members.value("message") { $0.string() },
      retryAt: try members.value(ifPresent: "retryAt") { $0.timestamp() })
  }
}
