import SyncJSON
import SyncModels

// A checkpoint is read from a store, which may be damaged, and the engine calculates with its
// numbers. So numbers out of the range of any checkpoint are refused.
extension Checkpoint: StoredForm {
  /// The JSON that the store keeps, without members that are `nil` or seldom true.
  package var json: [UInt8] {
    var json: [UInt8] = []
    json.reserveCapacity(512)
    json += "{\"scope\":{\"schemaVersion\":\(scope.schemaVersion)".utf8
    json.appendMember("source", scope.source)
    json.appendMember("query", scope.query)
    json.appendMember("store", scope.store)
    json += "},\"lastPass\":\(lastPass),\"epoch\":\(epoch),\"sweptPass\":\(sweptPass)".utf8
    json.appendMember("committed", committed?.rawValue)
    json.appendMember("committedAt", committedAt?.microseconds)
    if let inFlight {
      json += ",\"inFlight\":{\"number\":\(inFlight.number),\"fetched\":\(inFlight.fetched)".utf8
      json.appendMember("coverage", inFlight.coverage.rawValue)
      json.appendMember("base", inFlight.base?.rawValue)
      json.appendMember("resumeAt", inFlight.resumeAt?.rawValue)
      json.appendMember("candidate", inFlight.candidate?.rawValue)
      json.appendMember("total", inFlight.total)
      json += "}".utf8
    }
    json.appendMember("sweptFence", sweptFence)
    json.appendMember("deletionsVerifiedAt", deletionsVerifiedAt?.microseconds)
    if needsSecondListing { json += ",\"needsSecondListing\":true".utf8 }
    if hasNewQuery { json += ",\"hasNewQuery\":true".utf8 }
    if let sweep {
      json += ",\"sweep\":{\"pass\":\(sweep.pass)".utf8
      json.appendMember("listed", sweep.listed)
      switch sweep.refusal {
      case .massDeletion(let missing, let count): json += ",\"missing\":\(missing),\"of\":\(count)".utf8
      case .unidentifiedMalformed(let count): json += ",\"unidentified\":\(count)".utf8
      case nil: break
      }
      json += "}".utf8
    }
    json += "}".utf8
    return json
  }

  /// Reads the form of ``json``.
  package init(_ members: StoredMembers) throws(StoredFormError) {
    self.init(scope: try members.value("scope", Scope.init))
    lastPass = try members.value("lastPass") { $0.count() }
    epoch = try members.value("epoch") { $0.count() }
    sweptPass = try members.value("sweptPass") { $0.count() }
    committed = try members.value(ifPresent: "committed") { $0.string().map(SyncToken.init) }
    committedAt = try members.value(ifPresent: "committedAt") { $0.timestamp() }
    inFlight = try members.value(ifPresent: "inFlight", Pass.init)
    sweptFence = try members.value(ifPresent: "sweptFence") { $0.integer() }
    deletionsVerifiedAt = try members.value(ifPresent: "deletionsVerifiedAt") { $0.timestamp() }
    needsSecondListing = try members.value(ifPresent: "needsSecondListing") { $0.bool() } ?? false
    hasNewQuery = try members.value(ifPresent: "hasNewQuery") { $0.bool() } ?? false
    sweep = try members.value(ifPresent: "sweep", Sweep.init)
  }
}

extension Checkpoint.Scope {
  fileprivate init(_ value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      source: try members.value("source") { $0.string() },
      query: try members.value("query") { $0.string() },
      schemaVersion: try members.value("schemaVersion") { $0.number() },
      store: try members.value("store") { $0.string() })
  }
}

extension Checkpoint.Pass {
  fileprivate init(_ value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      number: try members.value("number") { $0.count() },
      base: try members.value(ifPresent: "base") { $0.string().map(SyncToken.init) },
      coverage: try members.value("coverage") { $0.string().flatMap(RecordPage.Coverage.init(rawValue:)) },
      resumeAt: try members.value(ifPresent: "resumeAt") { $0.string().map(PageToken.init) },
      candidate: try members.value(ifPresent: "candidate") { $0.string().map(SyncToken.init) },
      fetched: try members.value("fetched") { $0.count() },
      total: try members.value(ifPresent: "total") { $0.count() })
  }
}

extension Checkpoint.Sweep {
  fileprivate init(_ value: JSONValueSlice) throws(StoredFormError) {
    let members = try value.members()
    self.init(
      pass: try members.value("pass") { $0.count() },
      listed: try members.value(ifPresent: "listed") { $0.count() })
    if let missing: Int = try members.value(ifPresent: "missing", { $0.count() }) {
      refusal = .massDeletion(missing: missing, of: try members.value("of") { $0.count() })
    } else if let count: Int = try members.value(ifPresent: "unidentified", { $0.count() }) {
      refusal = .unidentifiedMalformed(count)
    }
  }
}
