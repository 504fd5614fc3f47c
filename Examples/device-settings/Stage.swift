import CanonicalSync
import CanonicalSyncToolSupport
import Foundation
import InMemoryAdapters
import SyncAdapters
import SyncJSON

/// The story's setting: two devices, one remote, and a manual clock.
struct Stage: Sendable {
  let clock: ManualClock
  let remote: InMemoryRemote
  let archive: Archive
  let a: Device
  let b: Device
  let output = StandardStream.output

  /// Monday, 2 March 2026, at midnight.
  private static let midnight = Timestamp(milliseconds: 1_772_409_600_000)

  /// Plays the prehistory, and starts version 2 of the app on both devices.
  static func set(in folder: StoreFolder) async throws(SyncError) -> Stage {
    let clock = ManualClock(timestamp: midnight)
    let remote = InMemoryRemote(identity: "meters.example", clock: clock)
    let archive = Archive(remote)
    VersionOne.leaveMeters(at: remote, since: midnight)
    let old = try MeterTypes.version1()
    for name in ["A", "B"] {
      let device = try await Device(name, types: old, in: folder, remote: remote, clock: clock)
      _ = try await device.engine.sync()
      await device.close()
    }
    let types = try MeterTypes.version2()
    return Stage(
      clock: clock, remote: remote, archive: archive,
      a: try await Device("A", types: types, in: folder, remote: remote, clock: clock, archive: archive),
      b: try await Device("B", types: types, in: folder, remote: remote, clock: clock, archive: archive))
  }

  private init(clock: ManualClock, remote: InMemoryRemote, archive: Archive, a: Device, b: Device) {
    self.clock = clock
    self.remote = remote
    self.archive = archive
    self.a = a
    self.b = b
  }

  func close() async {
    await a.close()
    await b.close()
  }

  // MARK: Time

  /// Advances the clock to a time of the day; a past time is now.
  func wait(until hour: Int, _ minute: Int = 0, _ second: Int = 0) {
    let due = Self.midnight + .seconds(hour * 3600 + minute * 60 + second)
    clock.advance(by: max(.zero, due.duration(since: clock.timestamp)))
  }

  // MARK: Telling

  /// Prints an actor's action, with the time of the day.
  func say(_ who: String, _ what: String) {
    let date = Date(timeIntervalSince1970: Double(clock.timestamp.microseconds) / 1_000_000)
    let time = date.formatted(.iso8601.time(includingFractionalSeconds: false))
    output.line("  \(time.prefix(8))  \(who)  \(what)")
  }

  // MARK: What happens often

  /// Syncs a device, and prints the result.
  @discardableResult
  func sync(_ device: Device) async throws(SyncError) -> SyncResult {
    let result = try await device.engine.sync()
    let pushed = PushCounts.names.filter { $0.name != "requests" && $0.value(result.pushed) != 0 }
      .map { (name, value) in
        Counted(value(result.pushed), name == "conflicts" ? "conflict" : name, name).grouped
      }
    let pulled = SyncCounts.outcomes.filter { $0.value(result.total) != 0 }
      .map { "\($0.value(result.total).grouped) \($0.name)" }
    let parts = [
      pushed.isEmpty ? nil : "pushed: " + pushed.joined(separator: ", "),
      pulled.isEmpty ? nil : "pulled: " + pulled.joined(separator: ", "),
    ].compactMap(\.self)
    say(device.name, "syncs; " + (parts.isEmpty ? "nothing was to be done" : parts.joined(separator: "; ")))
    return result
  }

  /// Syncs both devices in turn until nothing is left to do.
  ///
  /// - Throws: `inconsistentData` if that does not end.
  func settle() async throws(SyncError) {
    for _ in 0..<10 {
      let results = [try await sync(a), try await sync(b)]
      if results.allSatisfy(\.isEmpty) { return }
    }
    throw SyncError(
      .inconsistentData, during: "syncing both devices in turn", "The syncs do not come to an end.")
  }

  /// The remote's meters, by key.
  func metersAtRemote() throws(SyncError) -> [String: Meter] {
    var meters: [String: Meter] = [:]
    for (key, payload) in remote.records(of: Meter.recordType) {
      do {
        meters[key] = try JSONByteDecoder().decode(Meter.self, from: payload.bytes)
      } catch {
        throw SyncError(
          .inconsistentData, during: "reading meters/\(key) at the remote", underlying: error)
      }
    }
    return meters
  }

  /// The number of meter deletions that the remote has applied.
  var deletionsAtRemote: Int {
    remote.pushEffects.count { $0.isDeletion && $0.id.type == Meter.recordType }
  }
}
