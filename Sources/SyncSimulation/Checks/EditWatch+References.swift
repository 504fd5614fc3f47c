import SyncCore
import SyncModels
import SyncPorts

extension EditWatch {
  /// No withheld copy refers to a record that is deleted.
  func checkReferrers(
    to id: RecordID, _ kinds: Set<WithheldChange.Kind>, _ view: StoreView, _ incarnation: Incarnation
  ) {
    for entry in view.withheld.values where kinds.contains(entry.kind) {
      guard case .upsert(let copy) = entry.change, copy.id != id,
        let entity = incarnation.schema[copy.id.type], let fields = try? entity.fields(of: copy.payload)
      else { continue }
      let refers = zip(entity.fields, fields).contains { field, value in
        value == .string(id.key)
          && entity.references.contains {
            // The app may delete what an unordered reference names.
            $0.field == field && $0.target == id.type && (kinds.count > 1 || $0.isOrdered)
          }
      }
      if refers {
        ledger.report(
          .references, "\(incarnation) deletes \(id), to which \(copy.id) refers, which is \(entry.kind)",
          about: [id, copy.id])
      }
    }
  }
}
