// swift-tools-version: 6.2
import PackageDescription

// An app as its author would write it: CanonicalSync is an external package. In an app of your own,
// the dependency is `.package(url: "…", from: "…")`.
let package = Package(
  name: "ServerApp",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CanonicalSync", path: "../..", traits: ["Postgres"])],
  targets: [
    .target(
      name: "ScheduleService",
      dependencies: [
        .product(name: "CanonicalSync", package: "CanonicalSync"),
        .product(name: "SyncServing", package: "CanonicalSync"),
      ]),
    .executableTarget(
      name: "server-app",
      dependencies: [
        "ScheduleService",
        .product(name: "CanonicalSync", package: "CanonicalSync"),
        .product(name: "FileAdapters", package: "CanonicalSync"),
        .product(name: "InMemoryAdapters", package: "CanonicalSync"),
        .product(name: "PostgresAdapters", package: "CanonicalSync"),
        .product(name: "SyncServing", package: "CanonicalSync"),
      ]),
    .testTarget(
      name: "ScheduleServiceTests",
      dependencies: [
        "ScheduleService", "server-app",
        .product(name: "CanonicalSync", package: "CanonicalSync"),
        .product(name: "InMemoryAdapters", package: "CanonicalSync"),
        .product(name: "PostgresAdapters", package: "CanonicalSync"),
        .product(name: "SyncServing", package: "CanonicalSync"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
