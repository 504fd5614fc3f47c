#if CloudKit && os(Linux)
  @testable import CloudKitAdapters
  import CanonicalSync
  import CanonicalSyncTestServers
  import InMemoryAdapters
  import Testing

  extension TriedRemote {
    /// A stand-in for CloudKit whose clock the suite moves.
    ///
    /// - Parameters:
    ///   - sweepEvery: The time between two listings of all keys.
    ///   - change: Changes the service's settings.
    static func cloudKit(
      _ kind: CloudKitBench.Kind, sweepEvery: Duration? = .seconds(600), restsFor rest: Duration,
      _ change: (inout StandInCloudKit.Settings) -> Void
    ) throws -> TriedRemote {
      var type = CloudKitType("Item")
      type.sweepEvery = sweepEvery
      let bench = try CloudKitBench(kind, types: ["items": type], change)
      return TriedRemote(
        transport: bench.service, source: { try bench.source($0) },
        sink: { ($0 as? CloudKitSource).map { CloudKitSink($0) } }, clock: bench.clock,
        retry: RetryPolicy(attempts: 12),
        write: { changes in
          for (key, value) in changes {
            bench.clock.advance(by: .milliseconds(((value ?? 0) + 150) % 300))
            if let value { bench.put(key, value) } else { bench.delete(key) }
          }
        },
        records: {
          try bench.service.rows("Item", in: bench.place.database, zone: bench.place.zone).mapValues { row in
            let record = try RecordDictionary(Array(row.json(nil).utf8)[...])
            return String(decoding: RecordPayload.payload(of: record), as: UTF8.self)
          }
        },
        sync: { engine in try await bench.passingPauses { try await engine.sync() } },
        pass: { bench.clock.advance(by: .seconds(5)) }, settle: { bench.clock.advance(by: rest) },
        check: { #expect(bench.service.violation == nil) })
    }
  }
#endif
