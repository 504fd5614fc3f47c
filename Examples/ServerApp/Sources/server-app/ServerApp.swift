import CanonicalSync
import FileAdapters
import Foundation
import InMemoryAdapters
import PostgresAdapters
import ScheduleService
import SyncServing

/// One of the servers that answer for the schedule.
///
/// `server-app STORE DIRECTORY PORT SECONDS` answers on a loopback port (0 for a free one, which it
/// prints), from the store at an address of PostgreSQL, which it syncs with a directory of records
/// every so many seconds, a day at the most. Kinto's clients read the same records under `/v1/`. SIGTERM and
/// Ctrl-C stop it.
@main struct ServerApp {
  /// The time that stopping may take.
  private static let grace = Duration.seconds(10)

  static func main() async {
    let arguments = CommandLine.arguments
    // A duration of zero or less would sync without a pause; infinity and NaN are no durations.
    guard arguments.count == 5, let port = UInt16(arguments[3]), let seconds = Double(arguments[4]),
      seconds > 0, seconds <= 86_400
    else {
      say("usage: server-app STORE DIRECTORY PORT SECONDS", to: .standardError)
      exit(64)
    }
    do {
      try await serve(arguments[1], arguments[2], port: port, interval: .seconds(seconds))
    } catch {
      say("server-app: \(error)", to: .standardError)
      exit(1)
    }
  }

  private static func serve(
    _ address: String, _ directory: String, port: UInt16, interval: Duration
  ) async throws {
    let stop = StopRequest(grace: grace)
    let store = try await PostgresStore.open(try PostgresAddress(address))
    let service = try await ScheduleService(
      store: store, source: try DirectorySource(directory: directory, identity: "schedule"),
      policy: SyncPolicy(interval: interval), connectivity: ManualConnectivity(.online))
    let records = try await service.records(in: store)
    let listener = try LoopbackListener(port: port) { request in
      if request.target.hasPrefix("/v1/") { return await records.respond(to: request) }
      guard request.method == "GET" else { return ServiceResponse(status: 405) }
      let answer = await service.answer(request.target)
      return ServiceResponse(
        status: answer.status, headers: ["Content-Type": answer.contentType],
        body: .bytes(Array(answer.body.utf8))
      )
    }
    say("http://127.0.0.1:\(listener.port)/")

    await withTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        await service.run { result in
          if case .failure(let error) = result { say("sync failed: \(error)", to: .standardError) }
        }
      }
      tasks.addTask { await service.follow(store.changes()) }
      await stop.wait()
      // No new requests; the sync stops at its next page, and gives the lease back.
      listener.close()
      tasks.cancelAll()
    }
    await store.close()
    say("stopped")
  }
}

/// Prints a line at once.
func say(_ line: String, to handle: FileHandle = .standardOutput) {
  handle.write(Data((line + "\n").utf8))
}
