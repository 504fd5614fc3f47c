import CanonicalSync
import SyncJSON

/// The two sides of a conflict, member by member.
struct ConflictSides: Hashable, Sendable {
  /// One member of the record on both sides.
  struct Row: Hashable, Sendable {
    /// The member's name.
    var name: FieldName
    /// The value of the local edit.
    var local: Side
    /// The remote's value.
    var remote: Side
  }

  /// One side's value of a member.
  struct Side: Hashable, Sendable {
    /// The value as compact JSON; `nil` if the side lacks the member.
    var value: String?
    /// Whether the value differs from the one that both sides started from.
    var isChanged: Bool
  }

  /// The members that differ, in the order of their names.
  let rows: [Row]
  /// The number of members that both sides have alike.
  let equal: Int

  /// Compares the sides of a conflict. A deleted record has no members.
  init(_ conflict: Conflict) {
    let local = Self.members(of: conflict.local.content.payload)
    let remote: [FieldName: Member]
    if case .upsert(let record) = conflict.remote {
      remote = Self.members(of: record.payload)
    } else {
      remote = [:]
    }
    let base = conflict.base.map(Self.members)
    var rows: [Row] = []
    var equal = 0
    // Names are different members if their bytes differ, even if they look the same.
    let names = Set(local.keys).union(remote.keys).sorted {
      $0.rawValue.utf8.lexicographicallyPrecedes($1.rawValue.utf8)
    }
    for name in names {
      let (here, there) = (local[name], remote[name])
      guard here?.canonical != there?.canonical else {
        equal += 1
        continue
      }
      func side(_ member: Member?) -> Side {
        // Without a common start, each side has set what it has.
        let isChanged = base.map { $0[name]?.canonical != member?.canonical } ?? (member != nil)
        return Side(value: member?.text, isChanged: isChanged)
      }
      rows.append(Row(name: name, local: side(here), remote: side(there)))
    }
    (self.rows, self.equal) = (rows, equal)
  }

  private struct Member {
    /// Equal values have equal bytes here, however they are spelled.
    var canonical: [UInt8]
    var text: String
  }

  /// The members of a payload. A whole that is not an object is a member without a name.
  private static func members(of payload: Payload?) -> [FieldName: Member] {
    guard let payload else { return [:] }
    var members: [FieldName: Member] = [:]
    do throws(JSONError) {
      try JSONScanner.members(of: payload.bytes) { member throws(JSONError) in
        members[FieldName(member.key)] = Self.member(member.value.bytes)
      }
    } catch {
      return ["": Self.member(payload.bytes)]
    }
    return members
  }

  private static func member(_ bytes: ArraySlice<UInt8>) -> Member {
    Member(
      canonical: JSONScanner.canonical(bytes),
      text: String(decoding: JSONScanner.compacted(bytes), as: UTF8.self))
  }
}
