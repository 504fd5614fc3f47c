import SyncJSON

/// Encodes a value as text for a store.
package func encoded(_ value: some Encodable, what: String) throws(SyncError) -> String {
  do {
    return String(decoding: try JSONByteEncoder().encode(value), as: UTF8.self)
  } catch {
    throw SyncError(.storeFailure, during: "writing the \(what)", "It has no JSON form.", underlying: error)
  }
}

/// Decodes a value from text in a store.
package func decoded<Value: Decodable>(_ type: Value.Type, from text: String, what: String) throws(SyncError)
  -> Value
{
  do {
    return try JSONByteDecoder().decode(type, from: Array(text.utf8)[...])
  } catch {
    throw SyncError(
      .storeUnreadable, during: "reading the \(what)", "The store's value has another form.",
      underlying: error)
  }
}
