#if SQLite
  import SyncJSON
  import SyncModels

  /// A value as the text that the file keeps of it.
  func encoded(_ value: some Encodable, what: String) throws(SyncError) -> String {
    do {
      return String(decoding: try JSONByteEncoder().encode(value), as: UTF8.self)
    } catch {
      throw SyncError(.storeFailure, during: "writing the \(what)", "It has no JSON form.", underlying: error)
    }
  }

  /// The value of a text that the file keeps.
  func decoded<Value: Decodable>(_ type: Value.Type, from text: String, what: String) throws(SyncError)
    -> Value
  {
    do {
      return try JSONByteDecoder().decode(type, from: Array(text.utf8)[...])
    } catch {
      throw SyncError(
        .storeUnreadable, during: "reading the \(what)", "The store holds something else there.",
        underlying: error)
    }
  }
#endif
