import SyncJSON
import SyncModels

extension HybridClock: SpelledOut {
  /// The JSON that the generic encoder would write.
  package var json: [UInt8]? {
    var json = Array("{\"last\":{\"physical\":\(last.physical.microseconds),\"counter\":\(last.counter)".utf8)
    json += ",\"replica\":".utf8
    JSONString.append(last.replica, to: &json)
    json += "}".utf8
    if let ahead { json += ",\"ahead\":\(ahead.microseconds)".utf8 }
    if let counter { json += ",\"counter\":\(counter)".utf8 }
    json += "}".utf8
    return json
  }

  /// Reads the form of ``json``.
  package init?(json: [UInt8]) {
    var stamp: EditStamp?
    var (ahead, counter): (Timestamp?, UInt32?)
    let isWhole = json[...].members { name, value in
      switch name {
      case "last": Self.take(EditStamp(member: value), into: &stamp)
      case "ahead": Self.take(value.timestamp, into: &ahead)
      case "counter": Self.take(value.number(), into: &counter)
      default: false
      }
    }
    guard isWhole, let stamp else { return nil }
    self.init(last: stamp, ahead: ahead, counter: counter)
  }
}

extension EditStamp {
  fileprivate init?(member: JSONValueSlice) {
    var (physical, counter, replica): (Timestamp?, UInt32?, String?)
    let isWhole = member.bytes.members { name, value in
      switch name {
      case "physical": HybridClock.take(value.timestamp, into: &physical)
      case "counter": HybridClock.take(value.number(), into: &counter)
      case "replica": HybridClock.take(value.string(), into: &replica)
      default: false
      }
    }
    guard isWhole, let physical, let counter, let replica else { return nil }
    self.init(physical: physical, counter: counter, replica: replica)
  }
}
