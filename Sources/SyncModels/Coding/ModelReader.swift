package import SyncJSON

/// Decodes records of one type, one after another, on one thread.
package final class ModelReader<Value: SyncedRecord> {
  private let decoder: JSONByteDecoder
  private let additions: [JSONByteDecoder.Addition]
  private let habits: JSONHabits?

  /// Creates a reader.
  ///
  /// - Parameter habits: Where it remembers what the records have in common; `nil` for one record.
  package init(_ type: Value.Type, habits: JSONHabits? = JSONHabits()) {
    let coding = Value.coding
    var decoder = JSONByteDecoder()
    decoder.forms = coding
    var additions = coding.addedDefaults
    if let member = coding.keyMember, type is any Identifiable.Type {
      additions.append(.init(member.rawValue, replacesNull: false) { Value.json(ofKey: $0) })
    }
    (self.decoder, self.additions, self.habits) = (decoder, additions, habits)
  }

  /// Decodes the payload of a record, as ``Payload/decoded(as:key:)``.
  package func decode(_ payload: Payload, key: String) throws(Undecodable) -> Value {
    do {
      return try decoder.decode(Value.self, from: payload.bytes, adding: additions, key: key, habits: habits)
    } catch {
      throw Undecodable(
        id: RecordID(type: Value.recordType, key: key), reason: CodingFlaw(error).description)
    }
  }
}
