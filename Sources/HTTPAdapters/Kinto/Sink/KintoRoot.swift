import SyncJSON
import SyncModels

/// What a server says of itself at its root address.
struct KintoRoot: Sendable {
  /// How many requests a batch may hold: what the server says, or what Kinto allows unless it was set up otherwise.
  let batchLimit: Int

  init(_ body: [UInt8]) {
    var limit: Int64?
    do {
      try JSONScanner.members(of: body[...]) { member throws(JSONError) in
        guard member.hasKey(Array("settings".utf8)), member.value.kind == .object else { return }
        try JSONScanner.members(of: member.value.bytes) { setting throws(JSONError) in
          if setting.hasKey(Array("batch_max_requests".utf8)) { limit = setting.value.integer() }
        }
      }
    } catch {
      // The usual limit is a safe guess; too large a batch is told.
      limit = nil
    }
    batchLimit = Int(min(max(1, limit ?? 25), 1000))
  }
}
