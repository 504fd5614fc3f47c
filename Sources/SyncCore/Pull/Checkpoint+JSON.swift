import SyncJSON
import SyncModels

extension Checkpoint: SpelledOut {
  /// The JSON that the generic encoder would write; `nil` with a sweep that was refused.
  package var json: [UInt8]? {
    guard sweep?.refusal == nil else { return nil }
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
    json += ",\"needsSecondListing\":\(needsSecondListing)".utf8
    if hasNewQuery { json += ",\"hasNewQuery\":true".utf8 }
    if let sweep {
      json += ",\"sweep\":{\"pass\":\(sweep.pass)".utf8
      if let listed = sweep.listed { json += ",\"listed\":\(listed)".utf8 }
      json += "}".utf8
    }
    json += "}".utf8
    return json
  }

  private static func append(_ token: String?, named name: StaticString, to json: inout [UInt8]) {
    guard let token else { return }
    json += ",\"\(name)\":{\"rawValue\":".utf8
    JSONString.append(token, to: &json)
    json += "}".utf8
  }

  /// Reads the form of ``json``.
  package init?(json: [UInt8]) {
    var scope: Scope?
    var numbers: (lastPass: Int64?, epoch: Int64?, sweptPass: Int64?)
    var (needsSecondListing, hasNewQuery): (Bool?, Bool?)
    var read = Checkpoint(scope: Scope(source: "", query: "", schemaVersion: 0, store: ""))
    let isWhole = json[...].members { name, value in
      switch name {
      case "scope": Self.take(Scope(value), into: &scope)
      case "committed": Self.take(value.token.map(SyncToken.init), into: &read.committed)
      case "committedAt": Self.take(value.timestamp, into: &read.committedAt)
      case "inFlight": Self.take(Pass(value), into: &read.inFlight)
      case "lastPass": Self.take(value.count(), into: &numbers.lastPass)
      case "epoch": Self.take(value.count(), into: &numbers.epoch)
      case "sweptPass": Self.take(value.count(), into: &numbers.sweptPass)
      case "sweptFence": Self.take(value.integer(), into: &read.sweptFence)
      case "deletionsVerifiedAt": Self.take(value.timestamp, into: &read.deletionsVerifiedAt)
      case "needsSecondListing": Self.take(value.bool(), into: &needsSecondListing)
      case "hasNewQuery": Self.take(value.bool(), into: &hasNewQuery)
      case "sweep": Self.take(Sweep(value), into: &read.sweep)
      default: false
      }
    }
    guard isWhole, let scope, let lastPass = numbers.lastPass, let epoch = numbers.epoch,
      let sweptPass = numbers.sweptPass, let needsSecondListing
    else { return nil }
    read.scope = scope
    (read.lastPass, read.epoch, read.sweptPass) = (lastPass, epoch, sweptPass)
    (read.needsSecondListing, read.hasNewQuery) = (needsSecondListing, hasNewQuery ?? false)
    self = read
  }
}

extension Checkpoint.Scope {
  fileprivate init?(_ object: JSONValueSlice) {
    var texts: (source: String?, query: String?, store: String?)
    var version: Int?
    let isWhole = object.bytes.members { name, value in
      switch name {
      case "source": Checkpoint.take(value.string(), into: &texts.source)
      case "query": Checkpoint.take(value.string(), into: &texts.query)
      case "schemaVersion": Checkpoint.take(value.number(), into: &version)
      case "store": Checkpoint.take(value.string(), into: &texts.store)
      default: false
      }
    }
    guard isWhole, let source = texts.source, let query = texts.query, let version, let store = texts.store
    else { return nil }
    self.init(source: source, query: query, schemaVersion: version, store: store)
  }
}

extension Checkpoint.Pass {
  fileprivate init?(_ object: JSONValueSlice) {
    var (number, coverage, fetched): (Int64?, RecordPage.Coverage?, Int?)
    var (base, candidate): (SyncToken?, SyncToken?)
    var resumeAt: PageToken?
    var total: Int?
    let isWhole = object.bytes.members { name, value in
      switch name {
      case "number": Checkpoint.take(value.count(), into: &number)
      case "base": Checkpoint.take(value.token.map(SyncToken.init), into: &base)
      case "coverage":
        Checkpoint.take(value.string().flatMap(RecordPage.Coverage.init(rawValue:)), into: &coverage)
      case "resumeAt": Checkpoint.take(value.token.map(PageToken.init), into: &resumeAt)
      case "candidate": Checkpoint.take(value.token.map(SyncToken.init), into: &candidate)
      case "fetched": Checkpoint.take(value.count(), into: &fetched)
      case "total": Checkpoint.take(value.count(), into: &total)
      default: false
      }
    }
    guard isWhole, let number, let coverage, let fetched else { return nil }
    self.init(
      number: number, base: base, coverage: coverage, resumeAt: resumeAt, candidate: candidate,
      fetched: fetched, total: total)
  }
}

extension Checkpoint.Sweep {
  fileprivate init?(_ object: JSONValueSlice) {
    var (pass, listed): (Int64?, Int?)
    let isWhole = object.bytes.members { name, value in
      switch name {
      case "pass": Checkpoint.take(value.count(), into: &pass)
      case "listed": Checkpoint.take(value.count(), into: &listed)
      default: false
      }
    }
    guard isWhole, let pass else { return nil }
    self.init(pass: pass, listed: listed)
  }
}
