import CanonicalSync
import CanonicalSyncToolSupport
import InMemoryAdapters

/// A meter as its radio announces it.
private struct Discovery: SyncedRecord, Codable {
  static let recordType = Meter.recordType
  var mac: String
  var name: String
  var signal: Int
}

extension Stage {
  /// A meter is detected six times in four minutes.
  ///
  /// The remote receives it every two minutes. The device itself always has the latest state.
  func discovery() async throws(SyncError) -> JSON {
    wait(until: 11)
    let throttle = a.engine.throttle()
    let start = clock.timestamp
    let id = RecordID.meter("heater")
    var heard: [Int] = []
    for (second, signal) in [(0, -60), (30, -61), (60, -55), (90, -58), (120, -70), (240, -64)] {
      wait(until: 11, 0, second)
      let meter = Discovery(mac: "02:00:5E:20:00:03", name: "Heat meter", signal: signal)
      switch try await throttle.record(meter, key: id.key) {
      case .recorded: say("A", "hears the heat meter at \(signal) dB, and records it")
      case .cached: say("A", "hears it at \(signal) dB, and keeps that to itself")
      }
      _ = try await a.engine.sync()
      let latest = try await throttle.latest(Discovery.self, key: id.key)
      if let latest, latest.value.signal == signal { heard.append(seconds(of: latest.seenAt, since: start)) }
    }
    // The records that the remote received, by the time of their edit.
    let recorded = remote.pushEffects.filter { $0.id == id }
      .map { seconds(of: $0.stamp.physical, since: start) }
    output.line("            recorded at \(recorded.map(String.init).joined(separator: ", ")) s")
    return [
      "recordedAt": .array(recorded.map { .integer($0) }), "heardAt": .array(heard.map { .integer($0) }),
    ]
  }

  private func seconds(of instant: Timestamp, since start: Timestamp) -> Int {
    Int(instant.duration(since: start).components.seconds)
  }
}
