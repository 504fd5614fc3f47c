import Foundation

/// The most memory that this process has held at once.
package enum PeakMemory {
  /// The peak of the resident set, in bytes; 0 where the system does not tell.
  package static var bytes: Int {
    #if canImport(Darwin)
      var usage = rusage()
      return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0
    #else
      // Linux counts what the process was before it became this program into its `rusage`, and not into this.
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    #endif
  }
}
