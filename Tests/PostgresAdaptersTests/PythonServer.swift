#if Postgres
  import Foundation

  /// A Python program that listens on a loopback port and first prints the port's number.
  final class PythonServer {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    let port: Int

    init(_ script: String, _ arguments: String...) throws {
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["python3", "-c", script] + arguments
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      port = Int(Self.line(output)) ?? 0
    }

    /// Gives the program a line, and waits for its answer.
    func order(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
      _ = Self.line(output)
    }

    func stop() { kill(process.processIdentifier, SIGKILL) }

    private static func line(_ pipe: Pipe) -> String {
      var bytes: [UInt8] = []
      while let byte = try? pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
