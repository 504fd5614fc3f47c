import SyncJSON
package import SyncModels

extension Entity {
  /// The members of a type's declaration that concern the schema.
  package static let declaredMembers = ["references", "indexes"]

  /// Reads a record type from the members of its declaration.
  ///
  /// `"references"` names a type for each field, as in `{"home_team_id": "teams"}`, or
  /// `{"home_team_id": {"type": "teams", "ordered": false}}`. `"indexes"` lists fields.
  package init(_ type: RecordType, from object: DeclaredObject) throws(SyncError) {
    var references: [Reference] = []
    for (field, target) in try object["references"]?.entries() ?? [] {
      guard target.kind == .object else {
        references.append(.to(RecordType(try target.text()), by: FieldName(field)))
        continue
      }
      let members = try target.object(["type", "ordered"])
      references.append(
        .to(
          RecordType(try members.required("type").text()), by: FieldName(field),
          ordered: try members["ordered"]?.flag() ?? true))
    }
    var indexes: [FieldName] = []
    for index in try object["indexes"]?.elements() ?? [] { indexes.append(FieldName(try index.text())) }
    self.init(type, references: references, indexes: indexes)
  }
}

extension DeclaredValue {
  /// Checks the types of a declaration together, and puts them in order.
  ///
  /// The value is the object whose members are the types.
  ///
  /// - Throws: `invalidConfiguration` for no type, an invalid name, a cycle, and a reference to an
  ///   undeclared type.
  package func schema(of entities: [Entity]) throws(SyncError) -> SyncSchema {
    guard !entities.isEmpty else { throw failure("declares no type.") }
    let names = entities.map(\.type.rawValue)
    for entity in entities {
      for reference in entity.references where !names.contains(reference.target.rawValue) {
        let hint = Spelling.nearest(to: reference.target.rawValue, among: names, "declared are")
        throw failure(
          "declares that \(entity.type).\(reference.field) refers to \"\(reference.target)\", which is not declared; \(hint)"
        )
      }
    }
    do {
      return try SyncSchema(entities)
    } catch {
      throw failure("is not a valid schema. \(error.message)")
    }
  }
}
