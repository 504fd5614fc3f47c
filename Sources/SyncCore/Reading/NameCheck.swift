import SyncModels
import SyncPorts

// A condition on a member that no record has selects nothing, without an error of any store.
extension LocalRecords {
  /// Checks that the fields of a query are members of the records, as far as that is certain.
  ///
  /// - Throws: `invalidConfiguration` for a field that neither the type decodes nor the schema
  ///   declares, and for one that only the schema declares while records spell it otherwise.
  func checkNames<T: SyncedRecord>(
    in query: Query, of type: T.Type, _ snapshot: any StoreSnapshot
  ) throws(SyncError) {
    let names = (query.condition?.fields ?? []).union(query.order.map(\.field))
    guard !names.isEmpty, let entity = schema[query.type] else { return }
    func sample() throws(SyncError) -> Record? {
      try snapshot.records(Query(query.type, limit: 1)).first
    }
    guard let members = try ModelMembers.of(type, sample: sample) else { return }
    for name in names.filter({ !members.contains($0) }).sorted(by: { $0.rawValue < $1.rawValue }) {
      let present = try sample().flatMap { try? FieldMap($0.payload) }?.fields ?? []
      let spelling = present.contains(name) ? nil : present.first { $0.letters == name.letters }
      if spelling == nil, entity.declares(name) { continue }
      throw SyncError(
        .invalidConfiguration, during: "reading \(query.type)",
        """
        \(T.self) has no member \(name)\(spelling.map { ", but its records have \($0)" } ?? ""). Fields and indexes \
        are named as in JSON. Declare a member that \(T.self) does not decode as an index.
        """)
    }
  }
}

extension Entity {
  /// Whether a field is declared for any purpose.
  fileprivate func declares(_ name: FieldName) -> Bool {
    fields.contains(name) || immutable.contains(name) || schemaVersionField == name || stampField == name
  }
}

extension FieldName {
  /// The letters and digits, in lower case: `startsAt` and `starts_at` have the same.
  fileprivate var letters: String { rawValue.lowercased().filter { $0.isLetter || $0.isNumber } }
}
