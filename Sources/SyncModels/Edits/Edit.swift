/// The new state that an app gives a record, and when the app set it.
public struct Edit: Hashable, Sendable, Codable {
  /// The record's whole new payload, or its deletion.
  public var content: Content
  /// When the edit was made.
  public var stamp: EditStamp

  /// Creates an edit.
  public init(_ content: Content, stamp: EditStamp) {
    self.content = content
    self.stamp = stamp
  }

  /// The state of the record after an edit.
  public enum Content: Hashable, Sendable, Codable {
    /// The record with this payload, and the schema version that the payload was written with.
    case upsert(Payload, schemaVersion: Int)
    /// No record.
    case deletion

    /// The new payload; `nil` for a deletion.
    public var payload: Payload? {
      if case .upsert(let payload, _) = self { payload } else { nil }
    }
  }
}
