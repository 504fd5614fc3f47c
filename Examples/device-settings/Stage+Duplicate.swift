import CanonicalSync
import CanonicalSyncToolSupport

extension Stage {
  /// B restores a backup with a new id and another spelling of the address.
  ///
  /// One record is left everywhere.
  func duplicate() async throws(SyncError) -> JSON {
    wait(until: 10, 30)
    try await a.rename("cellar", mac: "AA:BB:CC:DD:EE:01", to: "Cellar")
    say("A", "finds the meter AA:BB:CC:DD:EE:01 and calls it \"Cellar\"")
    try await settle()
    wait(until: 10, 35)
    try await b.rename("restored-7", mac: "aabbccddee01", to: "Cellar, restored")
    say("B", "restores a backup that has it as aabbccddee01; A will see that it is the same meter")
    try await settle()
    let (onA, onB) = (copies(in: try await a.meters()), copies(in: try await b.meters()))
    let there = copies(in: Array(try metersAtRemote().values))
    output.line("            a: \(onA.count), b: \(onB.count), remote: \(there.count)")
    return [
      "records": .integer(there.count), "onA": .integer(onA.count), "onB": .integer(onB.count),
      "name": there.first.map { .string($0.name) } ?? .null,
    ]
  }

  private func copies(in meters: [Meter]) -> [Meter] {
    meters.filter { $0.mac.lowercased().filter { $0 != ":" } == "aabbccddee01" }
  }
}
