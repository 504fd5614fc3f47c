import SyncJSON
import SyncModels

/// A server's description of itself at its root address.
struct KintoRoot: Sendable {
  /// The most requests in a batch: the server's limit, or Kinto's default.
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
      // The default limit is a safe guess; the server reports a batch that is too large.
      limit = nil
    }
    batchLimit = Int(min(max(1, limit ?? 25), 1000))
  }
}
