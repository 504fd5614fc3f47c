import SyncCore
import SyncJSON
import SyncModels

// What is above the records: the root, the bucket and its collections.
extension KintoService {
  /// Answers a request over one state of the store.
  func answer(
    _ call: Call, _ caller: ServiceCaller, _ ledger: inout Ledger, _ edits: inout EditBatch?
  ) throws(SyncError) -> ServiceResponse {
    if [.batch, .changes].contains(call.path.resource) { throw Refusal.wrongMethod }
    if let bucket = call.path.bucket, bucket != self.bucket { throw Refusal.forbidden }
    if let type = call.path.type {
      var exchange = try Exchange(self, call, type, caller, ledger, edits)
      defer { (ledger, edits) = (exchange.ledger, exchange.edits) }
      return try exchange.answer()
    }
    let births = ledger.schema.entities.map { ledger.birth($0.type) }
    let (first, last) = (births.min() ?? 1, births.max() ?? 1)
    let bucket = [UInt8].json(["id": .json(bucket), "last_modified": .json(first)])
    switch (call.path.resource, call.method) {
    case (.root, _), (.heartbeat, _): return try root(call, caller)
    case (.buckets, "GET"): return .data(.json([bucket]), headers: ["ETag": "\"\(last)\""])
    case (.bucket, "GET"), (.bucket, "PUT"): return .resource(bucket, stamp: first)
    case (.collections, "GET"):
      let types = ledger.schema.entities.map(\.type).filter(caller.knows)
        .sorted { (ledger.birth($0), $0) < (ledger.birth($1), $1) }
      let headers = [String: String].totals(types.count).merging(["ETag": "\"\(last)\""]) { $1 }
      return .data(.json(types.map { Self.json($0, ledger) }), headers: headers)
    default: throw Refusal.forbidden
    }
  }

  /// A collection.
  static func json(_ type: RecordType, _ ledger: Ledger) -> [UInt8] {
    .json(["id": .json(type.rawValue), "last_modified": .json(ledger.birth(type))])
  }

  func root(_ call: Call, _ caller: ServiceCaller) throws(SyncError) -> ServiceResponse {
    guard call.reads else { throw Refusal.wrongMethod }
    if call.path.resource == .heartbeat { return .json(.json(["storage": .json(true)])) }
    let changes =
      "Track modifications of records and store the collection timestamps into a dedicated bucket and collection."
    return .json(
      .json([
        "project_name": .json("CanonicalSync"), "project_version": .json(LibraryVersion.current),
        "http_api_version": .json("1.23"), "url": .json("\(call.origin)/v1/"),
        "settings": .json(["batch_max_requests": .json(options.batchLimit), "readonly": .json(false)]),
        "capabilities": .json(["changes": .json(["description": .json(changes)])]),
        "user": .json(["id": .json(caller.id)]),
      ]))
  }
}
