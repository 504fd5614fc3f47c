package import Foundation
import Synchronization

/// A process that a test starts.
///
/// Foundation's `Process` waits for all children on one thread, and learns of an end by a socket that
/// the child inherits: a child that closes it, as a server does, leaves all others unreaped until it
/// ends. While one is unreaped, the testing library sees no end of an exit test. Here a thread for each
/// child reaps it at once, and a child inherits nothing but its three streams.
package final class ChildProcess: Sendable {
  /// How a process ended.
  package struct Ending: Sendable {
    /// The exit status, or the signal.
    package var status: Int32
    /// Whether a signal ended it.
    package var wasKilled: Bool
  }

  /// A process that was not started.
  package struct Failure: Error {
    package var command: String
    package var reason: String
  }

  private struct State {
    var ending: Ending?
    var waiters: [CheckedContinuation<Ending, Never>] = []
  }

  private let id: pid_t
  private let state = Mutex(State())
  private let hasEnded = DispatchSemaphore(value: 0)

  /// Starts a command, which is looked for in `PATH` if it has no slash.
  ///
  /// - Parameters:
  ///   - command: The program and its arguments.
  ///   - directory: Its working directory; by default this process's.
  ///   - environment: Its environment; by default this process's.
  ///   - input: Its standard input; by default empty.
  ///   - output: Its standard output; by default lost.
  ///   - errors: Its standard error; by default lost.
  package init(
    _ command: [String], in directory: URL? = nil, environment: [String: String]? = nil,
    input: FileHandle? = nil, output: FileHandle? = nil, errors: FileHandle? = nil
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
      var attributes: posix_spawnattr_t?
    #else
      var actions = posix_spawn_file_actions_t()
      var attributes = posix_spawnattr_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    for (number, stream) in [input, output, errors].enumerated() {
      if let stream {
        posix_spawn_file_actions_adddup2(&actions, stream.fileDescriptor, Int32(number))
      } else {
        posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
      }
    }
    if let directory { _ = SpawnExtension.changeDirectory?(&actions, directory.path) }
    #if canImport(Darwin)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_CLOEXEC_DEFAULT))
    #else
      _ = SpawnExtension.closeFrom?(&actions, 3)
      posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
    #endif
    let variables = (environment ?? ProcessInfo.processInfo.environment).map { "\($0)=\($1)" }
    var words = command.map { strdup($0) } + [nil]
    var settings = variables.map { strdup($0) } + [nil]
    defer { for text in words + settings { free(text) } }
    var id: pid_t = 0
    let error = posix_spawnp(&id, command[0], &actions, &attributes, &words, &settings)
    guard error == 0 else { throw Failure(command: command[0], reason: String(cString: strerror(error))) }
    self.id = id
    Thread.detachNewThread { self.reap() }
  }

  /// Whether it has not ended.
  package var isRunning: Bool { state.withLock { $0.ending == nil } }

  /// Sends a signal, if it has not ended.
  package func send(_ signal: Int32) {
    state.withLock { if $0.ending == nil { kill(id, signal) } }
  }

  /// Waits for the end, without blocking a thread.
  package func ending() async -> Ending {
    await withCheckedContinuation { waiter in
      let known = state.withLock { state in
        if state.ending == nil { state.waiters.append(waiter) }
        return state.ending
      }
      if let known { waiter.resume(returning: known) }
    }
  }

  /// Waits for the end, and blocks the calling thread.
  @discardableResult
  package func waitUntilExit() -> Ending {
    hasEnded.wait()
    hasEnded.signal()
    return state.withLock { $0.ending } ?? Ending(status: -1, wasKilled: true)
  }

  /// Runs a command to its end, and returns what it wrote to its standard output.
  ///
  /// - Parameters:
  ///   - errors: Whether the output includes what it wrote to its standard error.
  package static func run(
    _ command: [String], environment: [String: String]? = nil, input: [UInt8] = [],
    withErrors errors: Bool = false
  ) throws -> (status: Int32, output: Data) {
    let (given, output) = (Pipe(), Pipe())
    let process = try ChildProcess(
      command, environment: environment, input: given.fileHandleForReading,
      output: output.fileHandleForWriting,
      errors: errors ? output.fileHandleForWriting : nil)
    try given.fileHandleForReading.close()
    try output.fileHandleForWriting.close()
    try given.fileHandleForWriting.write(contentsOf: input)
    try given.fileHandleForWriting.close()
    let text = try output.fileHandleForReading.readToEnd() ?? Data()
    return (process.waitUntilExit().status, text)
  }

  private func reap() {
    var status: Int32 = 0
    // The number may be given to another process once this one is reaped, so it is reaped under the lock.
    var information = siginfo_t()
    while waitid(P_PID, id_t(id), &information, WEXITED | WNOWAIT) == -1, errno == EINTR {}
    let (ending, waiters) = state.withLock { state in
      while waitpid(id, &status, 0) == -1, errno == EINTR {}
      let signal = status & 0x7F
      let ending = Ending(status: signal == 0 ? (status >> 8) & 0xFF : signal, wasKilled: signal != 0)
      state.ending = ending
      defer { state.waiters = [] }
      return (ending, state.waiters)
    }
    hasEnded.signal()
    for waiter in waiters { waiter.resume(returning: ending) }
  }
}

/// Functions of the system's library that Swift does not import.
private enum SpawnExtension {
  #if canImport(Darwin)
    typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t?>
  #else
    typealias Actions = UnsafeMutablePointer<posix_spawn_file_actions_t>
  #endif
  typealias ChangeDirectory = @convention(c) (Actions, UnsafePointer<CChar>) -> Int32
  typealias CloseFrom = @convention(c) (Actions, Int32) -> Int32

  static let changeDirectory = function("posix_spawn_file_actions_addchdir_np", as: ChangeDirectory.self)
  static let closeFrom = function("posix_spawn_file_actions_addclosefrom_np", as: CloseFrom.self)

  private static func function<F>(_ name: String, as type: F.Type) -> F? {
    dlsym(nil, name).map { unsafeBitCast($0, to: type) }
  }
}
