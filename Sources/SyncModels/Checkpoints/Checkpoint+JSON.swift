import SyncJSON

extension Checkpoint {
  /// The JSON that the generic encoder would write; `nil` with a sweep that is due.
  ///
  /// Each page writes a checkpoint. It is spelled out because the generic encoder takes a tenth of
  /// the time of merging a page.
  package var json: [UInt8]? {
    // Only the last page of a complete listing leaves a sweep.
    guard sweep == nil else { return nil }
    var json: [UInt8] = []
    json.reserveCapacity(512)
    json += "{\"scope\":{\"source\":".utf8
    JSONString.append(scope.source, to: &json)
    json += ",\"query\":".utf8
    JSONString.append(scope.query, to: &json)
    json += ",\"schemaVersion\":\(scope.schemaVersion),\"store\":".utf8
    JSONString.append(scope.store, to: &json)
    json += "}".utf8
    Self.append(committed?.rawValue, named: "committed", to: &json)
    if let committedAt { json += ",\"committedAt\":\(committedAt.microseconds)".utf8 }
    if let inFlight {
      json += ",\"inFlight\":{\"number\":\(inFlight.number)".utf8
      Self.append(inFlight.base?.rawValue, named: "base", to: &json)
      json += ",\"coverage\":\"\(inFlight.coverage.rawValue)\"".utf8
      Self.append(inFlight.resumeAt?.rawValue, named: "resumeAt", to: &json)
      Self.append(inFlight.candidate?.rawValue, named: "candidate", to: &json)
      json += ",\"fetched\":\(inFlight.fetched)".utf8
      if let total = inFlight.total { json += ",\"total\":\(total)".utf8 }
      json += "}".utf8
    }
    json += ",\"lastPass\":\(lastPass),\"epoch\":\(epoch),\"sweptPass\":\(sweptPass)".utf8
    if let sweptFence { json += ",\"sweptFence\":\(sweptFence)".utf8 }
    if let deletionsVerifiedAt {
      json += ",\"deletionsVerifiedAt\":\(deletionsVerifiedAt.microseconds)".utf8
    }
    json += ",\"needsSecondListing\":\(needsSecondListing)}".utf8
    return json
  }

  private static func append(_ token: String?, named name: StaticString, to json: inout [UInt8]) {
    guard let token else { return }
    json += ",\"\(name)\":{\"rawValue\":".utf8
    JSONString.append(token, to: &json)
    json += "}".utf8
  }
}
