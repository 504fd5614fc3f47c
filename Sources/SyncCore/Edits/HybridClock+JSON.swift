import SyncJSON
import SyncModels

extension HybridClock: StoredForm {
  /// The JSON that the store keeps.
  package var json: [UInt8] {
    var json = Array("{\"last\":{\"physical\":\(last.physical.microseconds),\"counter\":\(last.counter)".utf8)
    json.appendMember("replica", last.replica)
    json += "}".utf8
    json.appendMember("ahead", ahead?.microseconds)
    json.appendMember("counter", counter)
    json += "}".utf8
    return json
  }

  /// Reads the form of ``json``.
  package init(_ members: StoredMembers) throws(StoredFormError) {
    self.init(
      last: try members.value("last", EditStamp.init(stored:)),
      ahead: try members.value(ifPresent: "ahead") { $0.timestamp() },
      counter: try members.value(ifPresent: "counter") { $0.number() })
  }
}

extension EditStamp {
  fileprivate init(stored value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      physical: try members.value("physical") { $0.timestamp() },
      counter: try members.value("counter") { $0.number() },
      replica: try members.value("replica") { $0.string() })
  }
}
