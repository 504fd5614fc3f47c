import SyncJSON
import SyncModels

extension PastSync: StoredForm {
  /// The JSON that the store keeps, without members that say nothing.
  package var json: [UInt8] {
    var json = Array("{\"number\":\(number),\"fence\":\(fence),\"triggers\":".utf8)
    Self.append(triggers, to: &json, in: ("[", "]")) { JSONString.append($0, to: &$1) }
    json += ",\"began\":\(began.microseconds),\"outcome\":\"\(outcome.rawValue)\"".utf8
    json += ",\"seconds\":\(seconds)".utf8
    if let failure {
      json += ",\"failure\":".utf8
      failure.append(to: &json)
    }
    if !typeFailures.isEmpty {
      json += ",\"typeFailures\":".utf8
      Self.append(typeFailures, to: &json, in: ("[", "]")) { failure, json in
        json += "{\"type\":".utf8
        JSONString.append(failure.type.rawValue, to: &json)
        json += ",\"failure\":".utf8
        failure.failure.append(to: &json)
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
    json.appendMember("bytes", bytes > 0 ? bytes : nil)
    json.appendMember("retries", retries > 0 ? retries : nil)
    if fetchingSeconds > 0 { json += ",\"fetchingSeconds\":\(fetchingSeconds)".utf8 }
    if writingSeconds > 0 { json += ",\"writingSeconds\":\(writingSeconds)".utf8 }
    json += "}".utf8
    return json
  }

  /// Reads the form of ``json``.
  package init(_ members: StoredMembers) throws(StoredFormError) {
    self.init(
      number: try members.value("number") { $0.count() }, fence: try members.value("fence") { $0.count() },
      triggers: try members.value("triggers") { $0.elements { $0.string() } },
      began: try members.value("began") { $0.timestamp() })
    outcome = try members.value("outcome") { $0.string().flatMap(Outcome.init(rawValue:)) }
    seconds = try members.value("seconds") { $0.double() }
    failure = try members.value(ifPresent: "failure", PassOutcomes.Failure.init)
    typeFailures =
      try members.value(ifPresent: "typeFailures") { (list) throws(StoredFormError) in
        list.elements(TypeFailure.init)
      } ?? []
    let named = try members.value(ifPresent: "counts") { (types) throws(StoredFormError) in
      try types.members().dictionary(Self.counts)
    }
    for (type, counts) in named ?? [:] { self.counts[RecordType(type)] = counts }
    pushed = try members.value(ifPresent: "pushed", Self.counts) ?? [:]
    bytes = try members.value(ifPresent: "bytes") { $0.count() } ?? 0
    retries = try members.value(ifPresent: "retries") { $0.count() } ?? 0
    fetchingSeconds = try members.value(ifPresent: "fetchingSeconds") { $0.double() } ?? 0
    writingSeconds = try members.value(ifPresent: "writingSeconds") { $0.double() } ?? 0
  }

  private static func counts(_ value: JSONValueSlice) throws(StoredFormError) -> [String: Int] {
    try value.members().dictionary { $0.count() }
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
}

extension PastSync.TypeFailure {
  fileprivate init(_ value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      RecordType(try members.value("type") { $0.string() }),
      try members.value("failure", PassOutcomes.Failure.init))
  }
}
