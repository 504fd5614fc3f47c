// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the libraries that it compares with never reach an embedder. `./run`
// builds and runs it.
let package = Package(
  name: "Benchmarks",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CanonicalSync", path: "../..", traits: [.defaults, "Postgres"])],
  targets: [
    // The records that both sides write, made by the same code.
    .target(name: "CRecords"),
    .executableTarget(
      name: "Ours",
      dependencies: [
        "CRecords",
        .product(name: "CanonicalSync", package: "CanonicalSync"),
        .product(name: "PostgresAdapters", package: "CanonicalSync"),
        .product(name: "SQLiteAdapters", package: "CanonicalSync"),
        .product(name: "SyncAdapters", package: "CanonicalSync"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
    .executableTarget(
      name: "Typed",
      dependencies: [
        "CRecords",
        .product(name: "CanonicalSync", package: "CanonicalSync"),
        .product(name: "SQLiteAdapters", package: "CanonicalSync"),
        .product(name: "SyncAdapters", package: "CanonicalSync"),
      ],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
