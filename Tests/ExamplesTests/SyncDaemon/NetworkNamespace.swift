#if SQLite && os(Linux)
  import Foundation

  /// A network of its own, with a cable that can be pulled: two interfaces, `near` with an address and a route, and `far`.
  struct NetworkNamespace {
    let name = "sync-\(UUID().uuidString.prefix(8))"

    struct Failure: Error, CustomStringConvertible {
      var description: String
    }

    /// Whether this process may make one; asked by making one.
    static let isPermitted: Bool = {
      guard let program else { return false }
      let name = "sync-try-\(getpid())"
      guard call(program, ["netns", "add", name]) == nil else { return false }
      defer { _ = call(program, ["netns", "delete", name]) }
      return call(program, ["netns", "exec", name, program.path, "link", "show"]) == nil
        && call(program, ["-n", name, "link", "add", "name", "near", "type", "veth", "peer", "name", "far"])
          == nil
    }()

    static let program = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"]
      .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// Makes a namespace, has it used, and removes it.
    static func with<R>(_ body: (NetworkNamespace) async throws -> R) async throws -> R {
      let namespace = NetworkNamespace()
      try namespace.ip("netns", "add", namespace.name)
      defer { try? namespace.ip("netns", "delete", namespace.name) }
      try namespace.inside("link", "add", "name", "near", "type", "veth", "peer", "name", "far")
      try namespace.inside("address", "add", "10.99.0.2/24", "dev", "near")
      try namespace.inside("link", "set", "near", "up")
      try namespace.inside("link", "set", "far", "up")
      try namespace.addRoute()
      return try await body(namespace)
    }

    func addRoute() throws { try inside("route", "add", "default", "via", "10.99.0.1", "dev", "near") }

    /// Calls `ip` on the namespace.
    func inside(_ arguments: String...) throws { try ip(["-n", name] + arguments) }

    /// Calls `ip` on the namespace once for many commands.
    func inside(_ commands: [String], file: URL) throws {
      try Data(commands.map { $0 + "\n" }.joined().utf8).write(to: file)
      try ip("-n", name, "-batch", file.path)
    }

    /// Starts a tool in the namespace.
    func start(_ tool: Tool, _ arguments: [String]) throws -> RunningTool {
      guard let program = Self.program else { throw Failure(description: "there is no ip") }
      return try RunningTool(
        executable: program, ["netns", "exec", name, tool.executable.path] + arguments, in: nil)
    }

    private func ip(_ arguments: String...) throws { try ip(arguments) }

    private func ip(_ arguments: [String]) throws {
      guard let program = Self.program else { throw Failure(description: "there is no ip") }
      if let failure = Self.call(program, arguments) { throw failure }
    }

    private static func call(_ program: URL, _ arguments: [String]) -> Failure? {
      let process = Process()
      process.executableURL = program
      process.arguments = arguments
      process.standardInput = FileHandle.nullDevice
      process.standardOutput = FileHandle.nullDevice
      process.standardError = FileHandle.nullDevice
      do {
        try process.run()
      } catch {
        return Failure(description: "\(error)")
      }
      process.waitUntilExit()
      if process.terminationStatus == 0 { return nil }
      return Failure(description: "ip \(arguments.joined(separator: " ")): \(process.terminationStatus)")
    }
  }
#endif
