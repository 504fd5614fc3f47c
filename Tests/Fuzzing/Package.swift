// swift-tools-version: 6.2
import PackageDescription

// A package of its own: libFuzzer brings its own `main`, which nothing else could be linked with.
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
