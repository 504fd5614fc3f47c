#if Postgres
  import CanonicalSyncTestProcesses
  import Foundation

  /// A Python program that listens on a loopback port and first prints the port's number.
  final class PythonServer {
    private let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    let port: Int

    init(_ script: String, _ arguments: String...) throws {
      process = try ChildProcess(
        ["python3", "-c", script] + arguments, input: input.fileHandleForReading,
        output: output.fileHandleForWriting)
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
      port = Int(Self.line(output)) ?? 0
    }

    /// Gives the program a line, and waits for its answer.
    func order(_ line: String) throws {
      try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
      _ = Self.line(output)
    }

    func stop() { process.send(SIGKILL) }

    private static func line(_ pipe: Pipe) -> String {
      var bytes: [UInt8] = []
      while let byte = try? pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 {
        bytes.append(byte)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }
#endif
