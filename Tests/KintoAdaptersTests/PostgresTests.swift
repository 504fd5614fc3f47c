import CanonicalSyncTestServers
import SyncConformance
import Testing

/// With its records in PostgreSQL, Kinto stamps a change before other clients can see it.
@Suite(
  "A Kinto with PostgreSQL",
  .enabled(
    if: RealKinto.postgresAddress != nil, "Tests/run --all starts the server, where PostgreSQL is installed."),
  .serialized, .timeLimit(.minutes(20)))
struct PostgresTests {
  @Test(arguments: RealKintoSinkTests.checks)
  func keepsThePromisesOfASink(_ check: SinkCheck) async throws {
    try await RealKintoSinkTests.run(check, at: RealKinto.postgresAddress)
  }
}
