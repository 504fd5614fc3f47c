import Foundation

/// The peak memory of this process.
package enum PeakMemory {
  /// The peak of the resident set, in bytes; 0 if the system reports none.
  package static var bytes: Int {
    #if canImport(Darwin)
      var usage = rusage()
      return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0
    #else
      // On Linux, `rusage` includes the process before it became this program; this file does not.
      let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
      let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    #endif
  }
}
