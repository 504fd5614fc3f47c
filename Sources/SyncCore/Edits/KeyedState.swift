import SyncJSON
import SyncModels
import SyncPorts

// Small state of the engine's own, kept in the store under a name, as JSON.
extension StoreSnapshot {
  /// The value kept under a name.
  ///
  /// - Throws: `storeUnreadable` where something else is kept there.
  func decoded<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(SyncError) -> Value? {
    guard let bytes = try value(forKey: key) else { return nil }
    do {
      return try JSONByteDecoder().decode(Value.self, from: bytes[...])
    } catch {
      throw SyncError(
        .storeUnreadable, during: "reading \(key)", "It is not what this version of the library writes.",
        underlying: error)
    }
  }
}

extension StoreTransaction {
  /// Keeps a value under a name.
  func encode<Value: Encodable>(_ value: Value, forKey key: String) throws(SyncError) {
    let bytes: [UInt8]
    do {
      bytes = try JSONByteEncoder().encode(value)
    } catch {
      throw SyncError(.storeFailure, during: "saving \(key)", underlying: error)
    }
    try setValue(bytes, forKey: key)
  }
}
