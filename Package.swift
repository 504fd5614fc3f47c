// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "CanonicalSync",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "CanonicalSync", targets: ["CanonicalSync"]),
    .library(name: "SyncAdapters", targets: ["SyncAdapters"]),
    .library(name: "InMemoryAdapters", targets: ["InMemoryAdapters"]),
    .library(name: "SQLiteAdapters", targets: ["SQLiteAdapters"]),
    .library(name: "PostgresAdapters", targets: ["PostgresAdapters"]),
    .library(name: "FileAdapters", targets: ["FileAdapters"]),
    .library(name: "HTTPAdapters", targets: ["HTTPAdapters"]),
    .library(name: "CurlAdapters", targets: ["CurlAdapters"]),
    .library(name: "KintoAdapters", targets: ["KintoAdapters"]),
    .library(name: "CloudKitAdapters", targets: ["CloudKitAdapters"]),
    .library(name: "NetworkAdapters", targets: ["NetworkAdapters"]),
    .library(name: "SchedulingAdapters", targets: ["SchedulingAdapters"]),
    .library(name: "AppleAdapters", targets: ["AppleAdapters"]),
    .library(name: "SyncObservation", targets: ["SyncObservation"]),
    .library(name: "SyncServing", targets: ["SyncServing"]),
    .library(name: "SyncMaintenance", targets: ["SyncMaintenance"]),
    .library(name: "SyncConformance", targets: ["SyncConformance"]),
    .library(name: "SyncSimulation", targets: ["SyncSimulation"]),
    .library(name: "SyncPictures", targets: ["SyncPictures"]),
    .executable(name: "device-settings", targets: ["CanonicalSyncDeviceSettings"]),
    .executable(name: "schedule-sync", targets: ["CanonicalSyncScheduleSync"]),
    .executable(name: "sync-daemon", targets: ["CanonicalSyncDaemon"]),
    .executable(name: "sync-inspect", targets: ["CanonicalSyncInspect"]),
    .executable(name: "sync-mirror", targets: ["CanonicalSyncMirror"]),
    .executable(name: "sync-serve", targets: ["CanonicalSyncServe"]),
    .executable(name: "simulate", targets: ["CanonicalSyncSimulate"]),
  ],
  traits: [
    .trait(name: "SQLite", description: "SQLiteStore, on the system's libsqlite3."),
    .trait(name: "Postgres", description: "PostgresStore, on the system's libpq."),
    .trait(name: "Curl", description: "CurlTransport, on the system's libcurl, on Linux."),
    .trait(
      name: "CloudKit", description: "CloudKitSource and CloudKitSink, on the system's libcrypto on Linux."),
    .default(enabledTraits: ["Curl", "SQLite"]),
  ],
  dependencies: [],
  targets: [
    // The pure half: values, ports, and the engine, which imports only the ports.
    .target(name: "SyncJSON"),
    .target(name: "SyncModels", dependencies: ["SyncJSON"]),
    .target(name: "SyncPorts", dependencies: ["SyncModels"]),
    .target(name: "SyncCore", dependencies: ["SyncJSON", "SyncModels", "SyncPorts"]),
    // The types of Foundation in records; the one part of the engine's half that imports any of it.
    .target(name: "SyncFoundation", dependencies: ["SyncModels"]),
    .target(
      name: "CanonicalSync", dependencies: ["SyncModels", "SyncPorts", "SyncCore", "SyncFoundation"]),
    // The door of the author of an adapter.
    .target(name: "SyncAdapters", dependencies: ["SyncJSON", "SyncModels", "SyncPorts"]),

    // What verifies, salvages and moves a store.
    .target(name: "SyncMaintenance", dependencies: ["SyncJSON", "SyncModels", "SyncPorts", "SyncCore"]),

    // The other end: what serves a store to other clients.
    .target(name: "SyncServing", dependencies: ["SyncJSON", "SyncModels", "SyncPorts", "SyncCore"]),

    // Adapters, one external technology each.
    .target(name: "InMemoryAdapters", dependencies: ["SyncJSON", "SyncModels", "SyncPorts"]),
    .target(name: "FileAdapters", dependencies: ["SyncModels", "SyncPorts"]),
    // What the stores in databases share beside SQL.
    .target(name: "CanonicalSyncDatabases", dependencies: ["SyncModels", "SyncPorts"]),
    .target(
      name: "SQLiteAdapters",
      dependencies: [
        "CanonicalSyncDatabases", "SyncJSON", "SyncModels", "SyncPorts",
        .target(name: "CanonicalSyncCSQLite", condition: .when(traits: ["SQLite"])),
      ]),
    .systemLibrary(
      name: "CanonicalSyncCSQLite", path: "Sources/CSQLite", pkgConfig: "sqlite3",
      providers: [.apt(["libsqlite3-dev"]), .brew(["sqlite"])]),

    .target(
      name: "PostgresAdapters",
      dependencies: [
        "CanonicalSyncDatabases", "SyncModels", "SyncPorts",
        .target(name: "CanonicalSyncCPostgres", condition: .when(traits: ["Postgres"])),
      ]),
    .systemLibrary(
      name: "CanonicalSyncCPostgres", path: "Sources/CPostgres", pkgConfig: "libpq",
      providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),

    .target(name: "HTTPAdapters", dependencies: ["SyncJSON", "SyncModels", "SyncPorts"]),
    .target(name: "KintoAdapters", dependencies: ["HTTPAdapters", "SyncJSON", "SyncModels", "SyncPorts"]),
    .target(
      name: "CurlAdapters",
      dependencies: [
        "HTTPAdapters", "SyncModels", "SyncPorts",
        .target(name: "CanonicalSyncCCurl", condition: .when(platforms: [.linux], traits: ["Curl"])),
      ]),
    .systemLibrary(
      name: "CanonicalSyncCCurl", path: "Sources/CCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]),
    .target(
      name: "CloudKitAdapters",
      dependencies: [
        "HTTPAdapters", "SyncJSON", "SyncModels", "SyncPorts",
        .target(name: "CanonicalSyncCCrypto", condition: .when(platforms: [.linux], traits: ["CloudKit"])),
      ]),
    .systemLibrary(
      name: "CanonicalSyncCCrypto", path: "Sources/CCrypto", pkgConfig: "libcrypto",
      providers: [.apt(["libssl-dev"]), .brew(["openssl"])]),
    .target(
      name: "NetworkAdapters",
      dependencies: [
        "SyncModels", "SyncPorts",
        .target(name: "CanonicalSyncCNetlink", condition: .when(platforms: [.linux])),
      ]),
    .systemLibrary(name: "CanonicalSyncCNetlink", path: "Sources/CNetlink"),
    .target(name: "SchedulingAdapters", dependencies: ["SyncModels", "SyncPorts"]),
    // Empty on other platforms than Apple's.
    .target(name: "AppleAdapters", dependencies: ["SyncModels", "SyncPorts"]),
    // Queries that SwiftUI shows.
    .target(name: "SyncObservation", dependencies: ["SyncCore", "SyncModels"]),

    // Pages in one HTML file, which the tools and the simulator write.
    .target(name: "CanonicalSyncPages", dependencies: ["SyncModels", "SyncCore"]),
    // The promises of the ports, as checks that any adapter's author can run.
    .target(name: "SyncConformance", dependencies: ["SyncJSON", "SyncModels", "SyncPorts"]),
    // Simulated worlds full of faults, each derived from one number.
    .target(
      name: "SyncSimulation",
      dependencies: [
        "SyncJSON", "SyncModels", "SyncPorts", "SyncCore", "SyncMaintenance", "InMemoryAdapters",
      ]),
    // Such a world as a page.
    .target(
      name: "SyncPictures",
      dependencies: ["CanonicalSyncPages", "SyncCore", "SyncJSON", "SyncModels", "SyncSimulation"]),

    // Command-line tools.
    .target(
      name: "CanonicalSyncToolSupport",
      dependencies: [
        "CanonicalSync", "SyncCore", "SyncAdapters", "SyncModels", "PostgresAdapters", "SQLiteAdapters",
        "SyncJSON",
      ],
      path: "Examples/ToolSupport"),
    .target(
      name: "CanonicalSyncScheduleKit",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "FileAdapters", "CanonicalSyncToolSupport",
      ],
      path: "Examples/ScheduleKit",
      resources: [.copy("Resources/bootstrap.json")]),
    .executableTarget(
      name: "CanonicalSyncDeviceSettings",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SQLiteAdapters", "SyncJSON",
        "CanonicalSyncToolSupport",
      ],
      path: "Examples/device-settings"),
    .executableTarget(
      name: "CanonicalSyncScheduleSync",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "CanonicalSyncScheduleKit", "CanonicalSyncToolSupport",
      ],
      path: "Examples/schedule-sync"),
    .executableTarget(
      name: "CanonicalSyncDaemon",
      dependencies: [
        "CanonicalSync", "NetworkAdapters", "CanonicalSyncScheduleKit", "SchedulingAdapters",
        "CanonicalSyncToolSupport",
      ],
      path: "Examples/sync-daemon"),
    .executableTarget(
      name: "CanonicalSyncInspect",
      dependencies: [
        "CanonicalSync", "SyncCore", "SyncAdapters", "CanonicalSyncPages", "SQLiteAdapters", "SyncJSON",
        "SyncMaintenance",
        "CanonicalSyncToolSupport",
      ],
      path: "Examples/sync-inspect"),
    .executableTarget(
      name: "CanonicalSyncMirror",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "CloudKitAdapters", "CurlAdapters", "HTTPAdapters", "KintoAdapters",
        "SQLiteAdapters", "SchedulingAdapters", "CanonicalSyncToolSupport",
      ],
      path: "Examples/sync-mirror"),
    // HTTP on a socket, for the tool that serves a store, and for tests.
    .target(name: "CanonicalSyncListening", dependencies: ["SyncServing"], path: "Examples/Listening"),
    .executableTarget(
      name: "CanonicalSyncServe",
      dependencies: [
        "CanonicalSync", "SyncCore", "SyncServing", "CanonicalSyncListening", "CanonicalSyncToolSupport",
      ],
      path: "Examples/sync-serve"),
    .executableTarget(
      name: "CanonicalSyncSimulate",
      dependencies: [
        "CanonicalSync", "SyncCore", "SyncAdapters", "SQLiteAdapters", "SyncPictures", "SyncSimulation",
        "CanonicalSyncToolSupport",
      ],
      path: "Examples/simulate"),

    // Deterministic executors for tests.
    .target(name: "CanonicalSyncTestExecutors", path: "Tests/TestExecutors"),
    .testTarget(name: "SyncJSONTests", dependencies: ["SyncJSON"]),
    .testTarget(name: "SyncModelsTests", dependencies: ["SyncJSON", "SyncModels"]),
    .testTarget(
      name: "SyncFoundationTests",
      dependencies: ["CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SyncJSON"]),
    .testTarget(
      name: "SyncCoreTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SyncJSON", "SyncMaintenance",
        "CanonicalSyncTestExecutors",
      ]),
    .testTarget(
      name: "SyncMaintenanceTests",
      dependencies: ["CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SyncMaintenance"]),
    .testTarget(
      name: "InMemoryAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SyncConformance", "SyncMaintenance",
        "CanonicalSyncTestExecutors",
      ]),
    // Programs that tests run.
    .target(name: "CanonicalSyncTestProcesses", path: "Tests/TestProcesses"),
    .testTarget(
      name: "FileAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "FileAdapters", "InMemoryAdapters", "SyncConformance",
        "CanonicalSyncTestProcesses",
      ]),
    .testTarget(
      name: "SQLiteAdaptersTests",
      dependencies: [
        "CanonicalSync", "CanonicalSyncDatabases", "SyncAdapters", "InMemoryAdapters", "SQLiteAdapters",
        "SyncConformance", "SyncJSON",
        "SyncMaintenance", "CanonicalSyncTestProcesses",
      ]),
    // The database that Tests/run starts.
    .target(
      name: "CanonicalSyncTestPostgres",
      dependencies: ["PostgresAdapters", "SyncModels", "CanonicalSyncTestProcesses"],
      path: "Tests/TestPostgres"),
    .testTarget(
      name: "PostgresAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "PostgresAdapters", "SyncConformance",
        "SyncJSON",
        "CanonicalSyncTestPostgres", "CanonicalSyncTestProcesses",
      ]),
    // The simulator's worlds in a real server.
    .testTarget(
      name: "PostgresSimulationTests",
      dependencies: ["CanonicalSync", "PostgresAdapters", "SyncSimulation", "CanonicalSyncTestPostgres"]),
    .testTarget(
      name: "NetworkAdaptersTests",
      dependencies: [
        "CanonicalSync", "InMemoryAdapters", "NetworkAdapters", "SyncConformance",
        .target(name: "CanonicalSyncCNetlink", condition: .when(platforms: [.linux])),
      ]),
    .testTarget(
      name: "SchedulingAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SchedulingAdapters", "SyncConformance",
      ]),
    .testTarget(
      name: "SyncObservationTests", dependencies: ["CanonicalSync", "InMemoryAdapters", "SyncObservation"]),
    // Test servers: scripted ones, a proxy that spoils answers, and the real one that Tests/run
    // starts.
    .target(
      name: "CanonicalSyncTestServers",
      dependencies: [
        "CloudKitAdapters", "CurlAdapters", "HTTPAdapters", "InMemoryAdapters", "KintoAdapters",
        "PostgresAdapters", "SQLiteAdapters", "SyncConformance", "SyncJSON", "SyncModels", "SyncPorts",
        "SyncServing", "CanonicalSyncListening", "CanonicalSyncTestPostgres", "CanonicalSyncTestProcesses",
        .target(name: "CanonicalSyncCCrypto", condition: .when(platforms: [.linux], traits: ["CloudKit"])),
      ],
      path: "Tests/TestServers"),
    .testTarget(
      name: "HTTPAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "HTTPAdapters", "InMemoryAdapters", "SyncConformance", "SyncJSON",
        "CanonicalSyncTestServers",
      ]),
    .testTarget(
      name: "CurlAdaptersTests",
      dependencies: [
        "CanonicalSync", "CurlAdapters", "HTTPAdapters", "InMemoryAdapters", "KintoAdapters",
        "SyncConformance", "CanonicalSyncTestProcesses", "CanonicalSyncTestServers",
        .target(name: "CanonicalSyncCCurl", condition: .when(platforms: [.linux], traits: ["Curl"])),
      ]),
    .testTarget(
      name: "CloudKitAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "CloudKitAdapters", "HTTPAdapters", "InMemoryAdapters",
        "SyncConformance",
        "SyncJSON", "CanonicalSyncTestProcesses", "CanonicalSyncTestServers",
      ]),
    .testTarget(
      name: "SyncServingTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "HTTPAdapters", "InMemoryAdapters", "KintoAdapters",
        "PostgresAdapters", "SQLiteAdapters", "SyncConformance", "SyncJSON", "SyncServing",
        "CanonicalSyncListening", "CanonicalSyncTestPostgres", "CanonicalSyncTestServers",
      ]),
    .testTarget(
      name: "KintoAdaptersTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "HTTPAdapters", "InMemoryAdapters", "KintoAdapters",
        "SyncConformance", "SyncJSON",
        "CanonicalSyncTestServers",
      ]),
    // Faults and other writers, at each remote.
    .testTarget(
      name: "RemoteTests",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "CloudKitAdapters", "HTTPAdapters", "InMemoryAdapters",
        "KintoAdapters", "SyncJSON",
        "CanonicalSyncTestProcesses", "CanonicalSyncTestServers",
      ]),
    .testTarget(
      name: "SyncSimulationTests",
      dependencies: ["CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SyncPictures", "SyncSimulation"]),
    // Each required behaviour of the library, through the public API, on every store.
    .testTarget(
      name: "RequirementsTests",
      dependencies: ["CanonicalSync", "SyncAdapters", "InMemoryAdapters", "SQLiteAdapters", "SyncJSON"]),
    .testTarget(name: "ArchitectureTests", dependencies: ["CanonicalSyncTestProcesses"]),
    // A process that edits and syncs a store until it is killed.
    .executableTarget(
      name: "canonical-sync-worker",
      dependencies: [
        "CanonicalSync", "SyncAdapters", "CurlAdapters", "HTTPAdapters", "InMemoryAdapters", "KintoAdapters",
        "PostgresAdapters", "SQLiteAdapters", "SyncMaintenance", "CanonicalSyncToolSupport",
      ],
      path: "Tests/sync-worker"),
    // Black-box tests of the tools, with real files and real processes.
    .testTarget(
      name: "ExamplesTests",
      dependencies: [
        "CanonicalSync", "SyncCore", "SyncAdapters", "CloudKitAdapters", "CurlAdapters", "FileAdapters",
        "HTTPAdapters",
        "InMemoryAdapters", "KintoAdapters",
        "SQLiteAdapters", "CanonicalSyncPages", "CanonicalSyncScheduleKit", "SyncConformance", "SyncJSON",
        "SyncMaintenance", "SyncObservation", "SyncPictures", "SyncSimulation",
        "CanonicalSyncTestPostgres", "CanonicalSyncTestProcesses", "CanonicalSyncTestServers",
        "CanonicalSyncToolSupport",
        "CanonicalSyncDeviceSettings", "CanonicalSyncScheduleSync",
        "CanonicalSyncSimulate",
        "CanonicalSyncDaemon",
        "CanonicalSyncInspect", "CanonicalSyncMirror", "CanonicalSyncServe", "canonical-sync-worker",
      ]),
  ],
  swiftLanguageModes: [.v6]
)

// For a build that tests what threads share, as under a sanitizer. It leaves out the tools, the
// tests that need them or servers, and the tests that run on one thread: the simulator's worlds,
// and the tests of values and of the source text.
let triesThreads = Context.environment["CANONICALSYNC_UNIT_TESTS"] != nil
if triesThreads {
  let others = [
    "CanonicalSyncToolSupport", "CanonicalSyncScheduleKit", "ArchitectureTests", "RequirementsTests",
    "ExamplesTests", "KintoAdaptersTests",
    "CloudKitAdaptersTests",
    "RemoteTests", "SyncJSONTests", "SyncModelsTests",
    "SyncPictures", "SyncSimulation", "SyncSimulationTests", "PostgresSimulationTests",
  ]
  package.products.removeAll { $0 is Product.Executable || others.contains($0.name) }
  package.targets.removeAll { $0.type == .executable || others.contains($0.name) }
}

// For quick turns on one part: builds only the named tests and tools, for example
// CANONICALSYNC_TESTS=SyncCoreTests,ArchitectureTests,CanonicalSyncSimulate. The tools' own tests
// need all tools; "tools" alone builds these, and nothing that only tests use.
if let names = Context.environment["CANONICALSYNC_TESTS"]?.split(separator: ",").map(String.init) {
  let hasTools = names.contains("ExamplesTests") || names == ["tools"]
  package.targets.removeAll { target in
    if names == ["tools"] {
      return target.type == .test || target.name == "SyncConformance"
        || target.path?.hasPrefix("Tests/") ?? false
    }
    return !names.contains(target.name) && (target.type == .test || target.type == .executable && !hasTools)
  }
  let left = package.targets.map(\.name)
  package.products.removeAll { product in
    switch product {
    case let product as Product.Executable: !product.targets.allSatisfy(left.contains)
    case let product as Product.Library: !product.targets.allSatisfy(left.contains)
    default: false
    }
  }
}

/// The same settings for every target, the tests and the tools included.
for target in package.targets where target.type != .system {
  target.swiftSettings = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  ]
}

// The tested code is optimized as in an app, with the checks of a debug build. The tests and what they
// share are built without optimization, as usual.
//
// Under a sanitizer it is optimized file by file, because its closures would lose names that are
// suppressed, and the tests as whole modules, which takes less time.
let shared = [
  "SyncConformance", "CanonicalSyncTestServers", "CanonicalSyncTestPostgres", "CanonicalSyncTestProcesses",
]
let optimizes = triesThreads || Context.environment["CANONICALSYNC_OPTIMIZED"] != nil
for target in package.targets where optimizes && target.type != .system && !shared.contains(target.name) {
  if target.type == .regular {
    target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
  } else if target.type == .test && triesThreads {
    target.swiftSettings?.append(.unsafeFlags(["-whole-module-optimization", "-num-threads", "1"]))
  }
}
