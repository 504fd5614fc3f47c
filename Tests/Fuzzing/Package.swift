// swift-tools-version: 6.2
import PackageDescription

// A separate package: libFuzzer has a `main` of its own, so other code cannot be linked with it.
let package = Package(
  name: "Fuzzing",
  platforms: [.macOS(.v15)],
  dependencies: [.package(name: "CanonicalSync", path: "../..", traits: [])],
  targets: [
    .executableTarget(
      name: "FuzzJSON",
      dependencies: [.product(name: "SyncJSON", package: "CanonicalSync")],
      swiftSettings: [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .unsafeFlags(["-parse-as-library"]),
      ],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer"])])
  ],
  swiftLanguageModes: [.v6]
)
