import CanonicalSync
import CanonicalSyncToolSupport

extension Stage {
  /// Both devices rename a meter, five seconds apart.
  ///
  /// The later name wins on both, whichever device pushes first.
  func rename() async throws(SyncError) -> JSON {
    wait(until: 9, 50)
    for (key, mac) in [Self.hall, Self.attic] { try await a.rename(key, mac: mac, to: "Water meter") }
    say("A", "finds two new meters")
    try await settle()

    // A's name reaches the remote long after B's was set. The times of the edits decide.
    try await rename(Self.hall, at: 0)
    wait(until: 10, 0, 20)
    try await sync(a)
    wait(until: 10, 0, 30)
    try await sync(b)
    wait(until: 10, 0, 40)
    try await sync(a)
    let first = try await names(of: Self.hall.key)

    try await rename(Self.attic, at: 1)
    wait(until: 10, 1, 10)
    try await sync(b)
    wait(until: 10, 1, 20)
    try await sync(a)
    wait(until: 10, 1, 30)
    try await sync(b)
    let second = try await names(of: Self.attic.key)
    return .object(first + [("whenAPushesLater", .object(second))])
  }

  private static let hall = (key: "hall", mac: "02:00:5E:20:00:01")
  private static let attic = (key: "attic", mac: "02:00:5E:20:00:02")

  private func rename(_ meter: (key: String, mac: String), at minute: Int) async throws(SyncError) {
    wait(until: 10, minute)
    try await a.rename(meter.key, mac: meter.mac, to: "Kitchen")
    say("A", "renames \"\(meter.key)\" to \"Kitchen\"")
    wait(until: 10, minute, 5)
    try await b.rename(meter.key, mac: meter.mac, to: "Bathroom")
    say("B", "renames \"\(meter.key)\" to \"Bathroom\"")
  }

  private func names(of key: String) async throws(SyncError) -> [(key: String, value: JSON)] {
    let names = [
      ("a", try await a.name(of: key)), ("b", try await b.name(of: key)),
      ("remote", try metersAtRemote()[key]?.name),
    ]
    for (place, name) in names { output.line("            \(place): \(name ?? "nothing")") }
    return names.map { (key: $0.0, value: $0.1.map { .string($0) } ?? .null) }
  }
}
