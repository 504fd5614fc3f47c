import SyncModels

// An edit that restores the earliest value of an immutable field is nobody's. It has the stamp of
// the copy that it corrects, so it loses to every edit of a person, here and on other devices, and
// elects no duplicate.
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
  var isRestoration: Bool {
    guard case .rebuild(let rebuilt) = author, rebuilt.pass == 0 else { return false }
    return edit.content != .deletion
  }
}
