#if SQLite && os(Linux)
  import Foundation

  /// A network namespace with two connected interfaces.
  ///
  /// They are `near`, with an address and a route, and `far`. Their cable can be pulled.
  struct NetworkNamespace {
    let name = "sync-\(UUID().uuidString.prefix(8))"

    struct Failure: Error, CustomStringConvertible {
      var description: String
    }

    /// Whether this process may create a namespace, determined by an attempt.
    ///
    /// Other failures are left to the tests.
    static func isPermitted() async -> Bool {
      do {
        try await with { _ in }
        return true
      } catch let failure as Failure {
        return !["there is no ip", "ermission denied", "not permitted", "not supported"]
          .contains { failure.description.contains($0) }
      } catch {
        return true
      }
    }

    static let program = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// Creates a namespace for a body, and removes it.
    static func with<R>(_ body: (NetworkNamespace) async throws -> R) async throws -> R {
      let namespace = NetworkNamespace()
      try await namespace.ip("netns", "add", namespace.name)
      let result: Result<R, any Error>
      do {
        try await namespace.inside("link", "add", "name", "near", "type", "veth", "peer", "name", "far")
        try await namespace.inside("address", "add", "10.99.0.2/24", "dev", "near")
        try await namespace.inside("link", "set", "near", "up")
        try await namespace.inside("link", "set", "far", "up")
        try await namespace.addRoute()
        result = .success(try await body(namespace))
      } catch {
        result = .failure(error)
      }
      try await namespace.ip("netns", "delete", namespace.name)
      return try result.get()
    }

    func addRoute() async throws {
      try await inside("route", "add", "default", "via", "10.99.0.1", "dev", "near")
    }

    /// Runs `ip` on the namespace.
    func inside(_ arguments: String...) async throws { try await ip(["-n", name] + arguments) }

    /// Runs `ip` on the namespace once, for many commands.
    func inside(_ commands: [String], file: URL) async throws {
      try Data(commands.map { $0 + "\n" }.joined().utf8).write(to: file)
      try await ip("-n", name, "-batch", file.path)
    }

    /// Starts a tool in the namespace.
    func start(_ tool: Tool, _ arguments: [String]) throws -> RunningTool {
      guard let program = Self.program else { throw Failure(description: "there is no ip") }
      return try RunningTool(
        executable: program, ["netns", "exec", name, tool.executable.path] + arguments, in: nil)
    }

    private func ip(_ arguments: String...) async throws { try await ip(arguments) }

    private func ip(_ arguments: [String]) async throws {
      guard let program = Self.program else { throw Failure(description: "there is no ip") }
      let outcome = try await RunningTool(executable: program, arguments, in: nil).outcome()
      guard outcome.status != 0 else { return }
      throw Failure(description: "ip \(arguments.joined(separator: " ")): \(outcome.errors)")
    }
  }
#endif
