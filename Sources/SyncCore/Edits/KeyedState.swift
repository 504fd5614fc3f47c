import SyncJSON
import SyncModels
import SyncPorts

// Small state of the engine, kept in the store under a key, as JSON.
extension StoreSnapshot {
  /// Returns the value of a key.
  ///
  /// - Throws: `storeUnreadable` if the value is of another kind.
  func decoded<Value: Decodable>(_ type: Value.Type, forKey key: String) throws(SyncError) -> Value? {
    guard let bytes = try value(forKey: key) else { return nil }
    do {
      return try JSONByteDecoder().decode(Value.self, from: bytes[...])
    } catch {
      throw SyncError(
        .storeUnreadable, during: "reading \(key)",
        "The value is not in the format of this version of the library.",
        underlying: error)
    }
  }
}

extension StoreTransaction {
  /// Keeps a value under a key.
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
