import CanonicalSync
import Testing

@testable import SyncCore

@Suite("Mutual needs")
struct MutualNeedsTests {
  private func complete(_ needs: [String: [String]]) -> [String] {
    var all = MutualNeeds()
    for (id, others) in needs {
      all.add(RecordID(type: "nodes", key: id), needing: others.map { RecordID(type: "nodes", key: $0) })
    }
    return all.complete().map(\.key).sorted()
  }

  @Test func areMetWithinACircle() {
    #expect(complete(["a": ["b"], "b": ["a"]]) == ["a", "b"])
    #expect(complete(["a": ["b"], "b": ["c"], "c": ["a"]]) == ["a", "b", "c"])
    #expect(complete(["a": ["b", "c"], "b": ["a"], "c": ["c", "b"]]) == ["a", "b", "c"])
  }

  @Test func areMetByWhatNeedsNothing() {
    #expect(complete(["a": [], "b": ["a"]]) == ["a", "b"])
    #expect(complete([:]) == [])
  }

  @Test func areNotMetFromOutside() {
    #expect(complete(["a": ["b"], "b": ["a", "x"]]) == [])
    #expect(complete(["a": ["b"], "b": ["c"]]) == [])
    #expect(complete(["a": ["b"], "b": ["a"], "c": ["a"], "d": ["c", "x"], "e": ["d"]]) == ["a", "b", "c"])
  }

  /// Tries the definition on every schema of three records and one outside.
  ///
  /// The definition is the union of all sets without outside needs.
  @Test func areMetExactlyWhereADefinitionSaysSo() {
    let ids = ["a", "b", "c"]
    let targets = ["a", "b", "c", "x"]
    let choices = (0..<16).map { bits in targets.indices.filter { bits >> $0 & 1 == 1 }.map { targets[$0] } }
    for a in choices {
      for b in choices {
        for c in choices {
          let needs = ["a": a, "b": b, "c": c]
          var union: Set<String> = []
          for bits in 0..<8 {
            let group = Set(ids.indices.filter { bits >> $0 & 1 == 1 }.map { ids[$0] })
            if group.allSatisfy({ group.isSuperset(of: needs[$0, default: []]) }) {
              union.formUnion(group)
            }
          }
          #expect(complete(needs) == union.sorted())
        }
      }
    }
  }

  @Test func ofALongChainCostNoMoreThanItsLength() {
    var chain: [String: [String]] = ["0": ["x"]]
    for number in 1...50_000 { chain["\(number)"] = ["\(number - 1)"] }
    #expect(complete(chain) == [])
    chain["0"] = ["50000"]
    #expect(complete(chain).count == 50_001)
  }
}
