import CanonicalSync
import CanonicalSyncListening
import CanonicalSyncToolSupport
import Foundation
import SyncServing

/// Serves a store to Kinto's clients until it is stopped.
@main
enum SyncServe {
  static func main() async {
    let options = ServeOptions()
    let stop = CancellationSource()
    let termination = Interrupt(on: [SIGTERM], secondTime: { _exit(ExitCode.failure.rawValue) }) {
      stop.cancel()
    }
    let interrupt = Interrupt(on: [SIGINT]) { stop.cancel() }
    do {
      try await serve(options, until: stop)
    } catch let error as SyncError {
      StandardStream.error.line("sync-serve: \(error)")
      ExitCode.failure.endProcess()
    } catch {
      StandardStream.error.line(
        "sync-serve: cannot listen on \(options.host):\(options.port): \(error.systemReason)")
      ExitCode.failure.endProcess()
    }
    let isTermination = termination.hasCome
    interrupt.hasCome && !isTermination ? ExitCode.interrupted.endProcess() : ExitCode.success.endProcess()
  }

  private static func serve(_ options: ServeOptions, until stop: CancellationSource) async throws {
    let metrics = try options.metricsFile.map { (path) throws(SyncError) in try ServiceMetrics(path: path) }
    let opened = try await OpenedStore.open(options.store)
    let store = opened.store
    let schema = try SyncSchema(
      try await store.read { (snapshot) throws(SyncError) in try snapshot.registeredEntities() })
    if !options.isOrigin, schema.entities.isEmpty {
      throw SyncError(
        .invalidConfiguration, during: "preparing to serve a store",
        "The store has no types yet: sync it first, or serve it with --origin.")
    }
    var limits = KintoService.Options()
    limits.allowsNewCollections = options.isOrigin
    // Without users, a page of any web site could read a store of this machine.
    limits.allowsBrowsers = options.users != nil
    let users = options.users
    let service = try await KintoService(
      store, schema: schema, bucket: options.bucket,
      mode: options.isOrigin ? .origin : .gateway(LocalEdits(store: store, schema: schema)), options: limits,
      access: users.map { users in
        { @Sendable request in users.user(of: request.headers["authorization"]).map { .owner($0) } }
      })
    let listener = try ServiceListener(host: options.host, port: options.port) { request in
      let start = ContinuousClock.now
      let response = await service.respond(to: request)
      metrics?.count(response.status, ContinuousClock.now - start)
      return response
    }
    StandardStream.output.line("http://\(options.host):\(listener.port)/v1/")
    StandardStream.output.flush()
    var ticks = 0
    while !stop.isCancelled {
      try? await Task.sleep(for: .milliseconds(100))
      ticks += 1
      if ticks % 150 == 1 { metrics?.write() }
    }
    if !listener.stop() {
      StandardStream.error.line("sync-serve: some requests were not answered within 10 seconds")
    }
    metrics?.write()
    await opened.close()
  }
}
