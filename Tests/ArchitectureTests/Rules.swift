/// One place where the package differs from its design.
struct Violation: Hashable, Sendable, CustomStringConvertible {
  var path: String
  var line: Int
  var message: String

  var description: String { "\(path):\(line): \(message)" }
}

/// The rules of the design, and the violations in a file.
enum Rules {
  private static let platform: Set<String> = ["Darwin", "Glibc", "Musl", "Android", "WASILibc", "ucrt"]
  private static let system: Set<String> = platform.union(["Foundation", "Dispatch"])
  private static let ports: Set<String> = ["SyncJSON", "SyncModels", "SyncPorts"]
  private static let databases = ports.union(["CanonicalSyncDatabases"])

  /// The modules that each target may import besides the standard library: the design's arrows.
  static let imports: [String: Set<String>] = [
    "SyncJSON": [],
    "SyncModels": ["SyncJSON"],
    "SyncPorts": ["SyncModels"],
    "SyncCore": ports,
    "SyncMaintenance": ports.union(["SyncCore"]),
    "SyncServing": ports.union(["SyncCore"]),
    "SyncFoundation": ["SyncModels", "FoundationEssentials", "Foundation"],
    "CanonicalSync": ["SyncModels", "SyncPorts", "SyncCore", "SyncFoundation"],
    "SyncAdapters": ports,
    "InMemoryAdapters": ports,
    "FileAdapters": ports.union(system),
    "CanonicalSyncDatabases": ports.union(["Dispatch"]),
    "SQLiteAdapters": databases.union(system).union(["CanonicalSyncCSQLite"]),
    "PostgresAdapters": databases.union(["Dispatch", "CanonicalSyncCPostgres"]),
    "HTTPAdapters": ports.union(["Foundation"]),
    "CurlAdapters": ports.union(["HTTPAdapters", "CanonicalSyncCCurl"]),
    "KintoAdapters": ports.union(["HTTPAdapters"]),
    "CloudKitAdapters": ports.union(["HTTPAdapters", "Foundation", "CanonicalSyncCCrypto", "CryptoKit"]),
    "NetworkAdapters": ports.union(system).union(["CanonicalSyncCNetlink"]),
    "SchedulingAdapters": ports.union(["Foundation"]),
    "AppleAdapters": ports.union(system).union(["BackgroundTasks", "Network"]),
    "SyncObservation": ["SyncCore", "SyncModels", "Observation"],
    "CanonicalSyncPages": ["SyncModels", "SyncCore"],
    "SyncConformance": ports,
    "SyncSimulation": ports.union(["SyncCore", "SyncMaintenance", "InMemoryAdapters"]),
    "SyncPictures": ["SyncJSON", "SyncModels", "SyncCore", "SyncSimulation", "CanonicalSyncPages"],
  ]

  /// Module maps of system libraries.
  static let systemLibraries: Set<String> = ["CCrypto", "CCurl", "CNetlink", "CPostgres", "CSQLite"]

  /// The targets of a manifest that an app may have by the same name.
  ///
  /// SwiftPM refuses two targets of one name in a package graph. An app can give the modules that
  /// it imports other names, but not the others, and no module of C.
  static func commonNames(inManifest manifest: String) -> Set<String> {
    let declaration = #/\.(?:target|executableTarget|systemLibrary|macro|plugin)\(\s*name: "([^"]+)"/#
    let names = manifest.matches(of: declaration).map { String($0.1) }
    return Set(names.filter { imports[$0] == nil && !$0.lowercased().hasPrefix("canonical") })
  }

  /// Modules of the compiler, which bring no technology with them.
  private static let standard: Set<String> = ["Swift", "Synchronization"]

  /// Files that may import more than their target, with the reason.
  static let exceptions: [String: Set<String>] = [
    // The wall clock belongs to the platform.
    "Sources/SyncPorts/Clock.swift": platform,
    // Threads belong to it too. A job on a foreign thread must be told from the world's own.
    "Sources/SyncSimulation/Execution/ThreadIdentity.swift": platform,
    // The body of a transaction cannot suspend, so it blocks its thread.
    "Sources/SyncConformance/Signal.swift": platform,
  ]

  /// Unstructured tasks, sleeps without a clock, and uses of the main thread.
  ///
  /// The engine contains none of them.
  private static var tasks: Regex<(Substring, Substring?, Substring?)> {
    #/\bTask\s*(\{|\(|<|\.\s*(detached|sleep|init|immediate)\b)|@MainActor\b/#
  }

  /// A read of a portion that does not go through `StoreSnapshot.portion`.
  ///
  /// The engine reads portions through that function, which ends even if a damaged store has no
  /// end. A read with a limit of one is no portion.
  private static var barePortion: Regex<Substring> {
    #/\.(?:rows|withheld|outbox|keys|duplicates|conflicts)\(\s*(?!leaving)[^()]*\b(?:after|before):(?!\s*nil, limit: 1\))/#
  }
  private static let portioned = [
    ".rows(", ".withheld(", ".outbox(", ".keys(", ".duplicates(", ".conflicts(",
  ]

  private static var vagueName: Regex<(Substring, Substring)> {
    #/(Manager|Managers|Helper|Helpers|Impl|Implementation|Util|Utils|Utilities|Protocol|Misc)$/#
  }

  /// A part of a deliberate flaw.
  ///
  /// The sources contain none. `Tests/Mutants` adds the flaws to a copy.
  private static var deliberateFlaw: Regex<Substring> { #/(?:MUTANTS|Mutant)(?![A-Za-z0-9_])/# }

  /// All violations in a file.
  static func violations(in file: SourceFile) -> [Violation] {
    var found: [Violation] = []
    func report(_ line: Int, _ message: String) {
      found.append(Violation(path: file.path, line: line, message: message))
    }
    if file.name.contains(vagueName) { report(1, "\(file.name) says nothing of what is inside") }
    for (index, line) in file.code.enumerated() {
      if let module = importedModule(line), !isAllowed(module, in: file) {
        report(index + 1, "\(file.target ?? "") must not import \(module)")
      }
      if let type = declaredType(line), type.contains(vagueName) {
        report(index + 1, "\(type) says nothing of what it is")
      }
      if file.target != nil, line.contains("utant") || line.contains("MUTANTS"),
        let match = line.firstMatch(of: deliberateFlaw)
      {
        report(index + 1, "\(match.0) belongs to Tests/Mutants")
      }
      if file.target == "SyncCore", line.contains("Task") || line.contains("@"),
        let match = line.firstMatch(of: tasks)
      {
        report(index + 1, "\(match.0) has no place in SyncCore")
      }
    }
    if file.target == "SyncCore", file.name != "StoreSnapshot" { reportPortions(in: file, report) }
    return found
  }

  private static func reportPortions(in file: SourceFile, _ report: (Int, String) -> Void) {
    let code = file.code
    for (index, line) in code.enumerated() where portioned.contains(where: line.contains) {
      // A call's arguments may be on the next line.
      let call = code[index...].prefix(2).joined(separator: " ")
      if let match = call.firstMatch(of: barePortion) {
        report(index + 1, "\(match.0)…: portions are read by StoreSnapshot.portion")
      }
    }
  }

  private static func isAllowed(_ module: String, in file: SourceFile) -> Bool {
    guard let target = file.target else { return true }
    return standard.contains(module) || imports[target]?.contains(module) == true
      || exceptions[file.path]?.contains(module) == true
  }

  /// The module that a line imports.
  private static func importedModule(_ line: Substring) -> String? {
    guard line.contains("import") else { return nil }
    let statement =
      #/
      (?:^|;)\s*
      (?:@\w+(?:\([^)]*\))?\s+)*
      (?:(?:public|package|internal|fileprivate|private)\s+)?
      import\s+
      (?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?
      (\w+)
      /#
    return line.firstMatch(of: statement).map { String($0.1) }
  }

  private static let keywords = ["struct", "class", "enum", "actor", "protocol", "typealias"]

  /// The type that a line declares.
  private static func declaredType(_ line: Substring) -> String? {
    guard keywords.contains(where: line.contains) else { return nil }
    return line.firstMatch(of: #/\b(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/#).map {
      String($0.1)
    }
  }
}
