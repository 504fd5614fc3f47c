package import SyncJSON

/// Decodes records of one type, one after another, on one thread.
package struct ModelReader<Value: SyncedRecord> {
  private let decoder: JSONByteDecoder
  private let keyMember: FieldName?
  private let defaults: [JSONByteDecoder.Addition]
  private let habits: JSONHabits?

  /// Creates a reader.
  ///
  /// - Parameter habits: Where it remembers what the records have in common; `nil` for one record.
  package init(_ type: Value.Type, habits: JSONHabits? = JSONHabits()) {
    let coding = Value.coding
    var decoder = JSONByteDecoder()
    decoder.forms = coding
    (self.decoder, keyMember, defaults, self.habits) = (
      decoder, coding.keyMember, coding.addedDefaults, habits
    )
  }

  /// Decodes the payload of a record, as ``Payload/decoded(as:key:)``.
  package func decode(_ payload: Payload, key: String) throws(Undecodable) -> Value {
    do {
      var added = defaults
      if let keyMember {
        added.append(.init(keyMember.rawValue, replacesNull: false) { Value.json(ofKey: key) })
      }
      return try decoder.decode(Value.self, from: payload.bytes, adding: added, habits: habits)
    } catch {
      throw Undecodable(
        id: RecordID(type: Value.recordType, key: key), reason: CodingFlaw(error).description)
    }
  }
}
