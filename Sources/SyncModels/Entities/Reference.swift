/// A field that holds the key of a record of another or the same type.
public struct Reference: Hashable, Sendable, Codable {
  /// The field that holds the key, a string or null.
  public let field: FieldName
  /// The type of the target record.
  public let target: RecordType
  /// Whether the target must be visible first.
  ///
  /// A record appears only after the targets of its ordered references. An unordered reference
  /// implies no order and may dangle. It breaks a cycle between types.
  public let isOrdered: Bool
  /// What becomes of an ordered reference whose target the remote deletes.
  public let onDeletion: DeletionRule

  /// Declares that a field refers to records of a type.
  ///
  /// - Parameters:
  ///   - target: The type of the records.
  ///   - field: The field, which holds a key or null.
  ///   - ordered: See ``isOrdered``.
  ///   - onDeletion: See ``onDeletion``.
  public static func to(
    _ target: RecordType, by field: FieldName, ordered: Bool = true,
    onDeletion: DeletionRule = .restoresTarget
  ) -> Reference {
    Reference(field: field, target: target, isOrdered: ordered, onDeletion: onDeletion)
  }

  /// What becomes of records whose target was deleted elsewhere, while they stayed.
  ///
  /// One person deletes a list while another one adds an item to it. The device that has both holds
  /// the deletion back. If the next sync brings no end of the reference either, the rule is carried
  /// out as an edit, which all devices receive, and the event ``SyncEvent/targetDeleted(_:rule:referrers:)``
  /// tells of it. Of several references to one target, the first rule in this order counts. Of more than
  /// 1,000 records that refer to it, each sync changes 1,000. Without a sink every rule is ``keepsTarget``,
  /// and so is ``restoresTarget`` of a new draft and of a type that is ``Entity/Access/local``: nothing is
  /// restored for others.
  public enum DeletionRule: String, Hashable, Sendable, Codable, CaseIterable {
    /// The target stays on this device as long as a record refers to it. Other devices do not show
    /// either of them.
    case keepsTarget
    /// The target is written to the remote again. Nothing is lost.
    case restoresTarget
    /// The reference becomes null, and the target is deleted.
    ///
    /// An ``Entity/immutable`` reference stays, with the target, as by ``restoresTarget``.
    case clearsReference
    /// The referring records are deleted, and then the target.
    ///
    /// A record to which others refer in turn stays, with the target, as by ``restoresTarget``.
    case deletesReferrers
  }
}
