import CanonicalSync
import Foundation

/// Notifies the service manager that started the service, by the protocol of sd_notify(3).
///
/// The messages say when the service is ready, what it does, that it is alive, and that it stops.
/// Without a manager that listens, nothing happens.
struct ServiceNotifier: Sendable {
  private let socketPath: String?
  /// The longest pause between two signs of life; `nil` if the manager wants none.
  let watchdogInterval: Duration?

  /// Reads what the manager wants from the environment: `NOTIFY_SOCKET` and `WATCHDOG_USEC`.
  init(_ environment: [String: String] = ProcessInfo.processInfo.environment) {
    socketPath = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let isMeant = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
    let limit = environment["WATCHDOG_USEC"].flatMap(Int64.init)
    watchdogInterval = isMeant && socketPath != nil ? limit.map { .microseconds(max(1, $0)) } : nil
  }

  /// Tells that the service is ready.
  func ready() { send("READY=1") }

  /// Tells that the service stops.
  func stopping() { send("STOPPING=1") }

  /// Tells what the service does, in one line.
  func status(_ text: String) { send("STATUS=\(text.shown())") }

  /// Gives signs of life until the task is cancelled, each after a check.
  ///
  /// - Parameter check: Returns once the service has responded. While it does not, there is no sign.
  func watch(_ check: @Sendable () async -> Void) async {
    guard let watchdogInterval else { return }
    while !Task.isCancelled {
      await check()
      if Task.isCancelled { return }
      send("WATCHDOG=1")
      // Twice as often as demanded, as sd_watchdog_enabled(3) advises.
      try? await Task.sleep(for: watchdogInterval / 2)
    }
  }

  /// Sends a message. A manager that does not listen any more is no reason to stop.
  private func send(_ message: String) {
    guard let socketPath else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var name = Array(socketPath.utf8)
    // A name in the abstract namespace begins with a zero byte, written as `@`.
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
    let length = socklen_t((MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + name.count)
    #if os(Linux)
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
    #else
      let descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
    #endif
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let bytes = Array(message.utf8)
    _ = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        sendto(descriptor, bytes, bytes.count, 0, address, length)
      }
    }
  }
}

extension ServiceNotifier {
  /// Tells what an event of the coordinator means for the service.
  func tell(_ event: SyncCoordinator.Event) {
    switch event {
    case .started: status("Syncing")
    case .finished(_, .completed(let result)) where result.failures.isEmpty:
      status("Up to date since \(Timestamp.now.inUTC)")
    case .finished(_, .completed(let result)):
      status("Failed for \(result.failures.map(\.type.rawValue).joined(separator: ", "))")
    case .finished(_, .stopped): status("Stopped by request")
    case .finished(_, .unavailable(let error)), .finished(_, .failed(let error)):
      status("Failed: \(error.code)")
    case .trigger(.retry, .planned(let next)): status("Trying again at \(next.at.inUTC)")
    case .network, .trigger, .unknownTypes, .cleanedUp, .submitted, .notSubmitted, .expired: break
    }
  }
}
