package import SyncModels

// The engine makes the edits that restore immutable fields, and no person does. Such an edit has the
// stamp of the copy that it corrects. So it loses to every edit of a person, here and on other
// devices, and elects no duplicate.
extension OutboxEntry.Author {
  /// The author of an edit that restores immutable fields of a copy.
  static func restoration(of copy: Record, by entity: Entity) -> OutboxEntry.Author {
    let stamp = entity.stamp(in: copy.payload) ?? EditStamp(physical: copy.version.modifiedAt)
    // A rebuild's decision comes after a pass, and passes begin with 1.
    return .rebuild(OutboxEntry.Rebuilt(lastWrite: stamp, pass: 0))
  }
}

extension OutboxEntry {
  /// Whether the edit only restores immutable fields.
  package var isRestoration: Bool {
    guard case .rebuild(let rebuilt) = author, rebuilt.pass == 0 else { return false }
    return edit.content != .deletion
  }
}
