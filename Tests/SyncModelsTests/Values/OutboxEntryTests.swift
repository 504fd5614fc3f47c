import SyncModels
import Testing

@Suite("An outbox entry")
struct OutboxEntryTests {
  private func name(on base: OutboxEntry.Base, at microseconds: Int64 = 7) -> IdempotencyKey {
    let edit = Edit(.deletion, stamp: EditStamp(physical: Timestamp(microseconds: microseconds)))
    return OutboxEntry(id: RecordID(type: "t", key: "k"), edit: edit, base: base).idempotencyKey(for: edit)
  }

  @Test func namesAnEditAnewOnEachBase() {
    let id = RecordID(type: "t", key: "k")
    let version = Version(modifiedAt: Timestamp(microseconds: 1))
    let copy = Record(id: id, version: version, payload: Payload(Array("{}".utf8)), fields: [])
    var later = copy
    later.version.sequence += 1
    // A record that was taken for deleted may exist after all, at its former version.
    let deletion = Tombstone(id: id, version: version)
    let bases: [OutboxEntry.Base] = [.none, .copy(copy), .copy(later), .deleted(deletion)]
    #expect(Set(bases.map { name(on: $0) }).count == bases.count)
    #expect(name(on: .copy(copy)) == name(on: .copy(copy)), "the same at every attempt")
    #expect(name(on: .copy(copy)) != name(on: .copy(copy), at: 8))
  }

  @Test(arguments: [.min, -10, -1, 0, 7, 10, 1_000_000, .max])
  func spellsTheNumbersOfANameAsSwiftDoes(_ number: Int64) {
    let id = RecordID(type: "t", key: "k")
    let stamp = EditStamp(physical: Timestamp(microseconds: number), counter: .max, replica: "é\u{0}")
    #expect(stamp.description == "\(number).\(UInt32.max)@é\u{0}")
    let version = Version(epoch: number, sequence: number, modifiedAt: Timestamp(microseconds: number))
    let edit = Edit(.deletion, stamp: stamp)
    let entry = OutboxEntry(id: id, edit: edit, base: .deleted(Tombstone(id: id, version: version)))
    #expect(entry.idempotencyKey(for: edit).rawValue == "\(stamp)/\(number).\(number).\(number)/deleted")
  }
}
