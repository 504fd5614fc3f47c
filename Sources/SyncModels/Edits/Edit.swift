/// What an app wants a record to be, and when it said so.
public struct Edit: Hashable, Sendable {
  /// The record's whole new payload, or its deletion.
  public var content: Content
  /// When the edit was made.
  public var stamp: EditStamp

  /// Describes an edit.
  public init(_ content: Content, stamp: EditStamp) {
    self.content = content
    self.stamp = stamp
  }

  /// What an edit leaves behind.
  public enum Content: Hashable, Sendable {
    /// The record, with the schema that its payload was written with.
    case upsert(Payload, schemaVersion: Int)
    /// Nothing.
    case deletion

    /// The payload, if the record is to exist.
    public var payload: Payload? {
      if case .upsert(let payload, _) = self { payload } else { nil }
    }
  }
}
