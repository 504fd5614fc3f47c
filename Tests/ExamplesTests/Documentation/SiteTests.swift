#if SQLite
  import Foundation
  import Testing

  /// `Docs/build`, on a small package: what it makes, and each fault that it must find.
  @Suite("The documentation's site", .timeLimit(.minutes(10)))
  struct SiteTests {
    @Test(.enabled(if: hasDocc, "The toolchain has no docc, or python3 is missing"))
    func isBuiltUnlessItHasAFault() async throws {
      try await withFolder { folder in
        let package = try SmallPackage(folder)
        let sound = try await package.build()
        #expect(sound.status == 0, "\(sound.output) \(sound.errors)")
        #expect(try package.text("site/index.html").contains(#"url=documentation/readme/"#))
        // The product has what it re-exports, and the guide DocC's links.
        #expect(try package.text("site/data/documentation/toys/toy/play().json").contains("Plays."))
        #expect(
          try package.text("site/data/documentation/guides/guide.json").contains(#"Guide#The-end"#))

        // The search knows the guide's text by its heading, and the symbol, and each page has its form.
        let index = try package.text("site/search/index.json")
        for entry in [
          #"["Guide: The end","Article","documentation/guides/guide/#The-end","The end."]"#,
          #"["Toy.play()","Instance Method · Toys","documentation/toys/toy/play()/","Plays."]"#,
        ] {
          #expect(index.contains(entry), "\(entry)")
        }
        let symbol = try package.text("site/documentation/toys/toy/index.html")
        #expect(symbol.contains(#"<form id="site-search" role="search""#))

        for fault in Fault.all {
          let outcome = try await package.with(fault) { try await package.build() }
          #expect(outcome.status == 1 && outcome.errors.contains(fault.words), "\(fault) \(outcome.errors)")
        }
        #expect(try await package.build().status == 0)
      }
    }

    @Test func saysWhatIsWrongWithItsCall() async throws {
      let build = SmallPackage.root.appending(path: "Docs/build")
      func run(_ arguments: String..., docc: String = "") async throws -> Tool.Outcome {
        try await RunningTool(
          executable: build, arguments, in: nil, environment: docc.isEmpty ? [:] : ["DOCC_EXEC": docc]
        ).outcome()
      }
      let help = try await run("--help")
      #expect(help.status == 0 && help.output.contains("--output DIR"))
      let unknown = try await run("--outptu")
      #expect(unknown.status == 2 && unknown.errors.contains("unknown option --outptu"))
      let missing = try await run(docc: "/nowhere/docc")
      #expect(missing.status == 1 && missing.errors.contains("there is no docc"))
    }

    /// `Tests/site-check` finds nothing in a sound site, and the faults of others.
    @Test(.enabled(if: hasDocc && hasBrowser, "The toolchain has no docc, or Chromium or python3 is missing"))
    func isShownByABrowser() async throws {
      try await withFolder { folder in
        let package = try SmallPackage(folder)
        #expect(try await package.build().status == 0)
        let sound = try await package.check()
        #expect(sound.status == 0, "\(sound.output) \(sound.errors)")
        #expect(try sound.json["headings"] as? [String] == ["The toys", "The toys"])

        let page = folder.url.appending(path: "site/documentation/guides/guide/index.html")
        let text = try String(contentsOf: page, encoding: .utf8)
        let noise =
          #"<body><img src="http://127.0.0.1:9/a.png"><div style="width: 2000px">-</div>"#
          + #"<script>console.log("noise")</script>"#
        try Data(text.replacing(#/<body[^>]*>/#, with: noise).utf8).write(to: page)
        let faulty = try await package.check()
        #expect(faulty.status == 1)
        for words in ["the console has: noise", "requests http://127.0.0.1:9/a.png", "scrolls sideways"] {
          #expect(faulty.output.contains(words), "\(words) in \(faulty.output)")
        }
      }
    }

    @Test func replacesNoOtherFolder() async throws {
      try await withFolder { folder in
        try folder.write("kept/letter.txt", ["Dear reader"])
        let outcome = try await RunningTool(
          executable: SmallPackage.root.appending(path: "Docs/build"), ["--output", folder.path("kept")],
          in: nil
        ).outcome()
        #expect(outcome.status == 2 && outcome.errors.contains("is no site"))
        #expect(FileManager.default.fileExists(atPath: folder.path("kept/letter.txt")))
      }
    }

    private static let hasDocc = has("docc") && has("python3")
    private static let hasBrowser = ["chromium", "chromium-browser", "google-chrome"].contains(where: has)

    private static func has(_ program: String) -> Bool {
      (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
    }
  }

  /// A fault: text at the end of a file of the package, and what the build must say of it.
  private struct Fault {
    var file: String
    var text: String
    var words: String

    static let all = [
      Fault(
        file: "Docs/Guide.md", text: "[x](Lost.md)\n",
        words: "Docs/Guide.md:8: the link leads nowhere: Lost.md"),
      Fault(
        file: "Docs/Guide.md", text: "[x](#lost)\n", words: "Docs/Guide.md:8: the link leads nowhere: #lost"),
      Fault(file: "Docs/Guide.md", text: "![x](lost.png)\n", words: "the link leads nowhere: lost.png"),
      Fault(file: "Docs/Guide.md", text: "See ``Nothing``.\n", words: "'Nothing' doesn't exist"),
      Fault(file: "Docs/Lost.md", text: "# Lost\n\nIs in no topic.\n", words: "Docs/Lost.md is in no topic"),
      Fault(
        file: "Sources/ToyCore/Bare.swift", text: "extension Toy {\n  public func bare() {}\n}\n",
        words: "Sources/ToyCore/Bare.swift:2: Toy.bare() has no documentation"),
      Fault(
        file: "Sources/ToyCore/Wrong.swift",
        text: "extension Toy {\n  /// See ``nothing``.\n  public func wrong() {}\n}\n",
        words: "'nothing' doesn't exist"),
      Fault(
        file: "Sources/ToyCore/Partial.swift",
        text:
          "extension Toy {\n  /// Adds.\n  ///\n  /// - Parameter a: One.\n  public func add(a: Int, b: Int) {}\n}\n",
        words: "Parameter 'b' is missing documentation"),
      Fault(
        file: "Sources/ToyCore/Loose.swift", text: "/// Is in no topic.\npublic struct Loose {}\n",
        words: "Toys: Loose is in no topic"),
      Fault(
        file: "Sources/ToyCore/Many.swift",
        text: "extension Toy {\n"
          + (0...20).map { "  /// A part.\n  public func part\($0)() {}\n" }.joined() + "}\n",
        words: "Toy: 22 members are in no topic"),
    ]
  }

  /// A package with one product, one type, one guide, and the build of this package.
  private struct SmallPackage {
    static let root = URL(filePath: #filePath).appending(path: "../../../..").standardized

    let folder: Folder

    init(_ folder: Folder) throws {
      self.folder = folder
      try folder.write(
        "Package.swift",
        [
          "// swift-tools-version: 6.2", "import PackageDescription", "let package = Package(",
          #"  name: "Toys", products: [.library(name: "Toys", targets: ["Toys"])],"#,
          #"  targets: [.target(name: "ToyCore"), .target(name: "Toys", dependencies: ["ToyCore"])])"#,
        ])
      try folder.write(
        "Sources/ToyCore/Toy.swift",
        ["/// A toy.", "public struct Toy {", "  /// Plays.", "  public func play() {}", "}"])
      try folder.write("Sources/Toys/Toys.swift", ["@_exported public import ToyCore"])
      try folder.write(
        "Sources/Toys/Toys.docc/Toys.md",
        ["# ``Toys``", "", "Toys.", "", "## Topics", "", "### All", "", "- ``Toy``"])
      try folder.write(
        "Docs/README.md",
        [
          "# The toys", "", "Of [toys](Guide.md).", "", "## Topics", "", "### All", "",
          "- [Guide](Guide.md): what it is", "- [Toys](../Sources/Toys/Toys.docc/Toys.md): what", "  it has",
        ])
      try folder.write(
        "Docs/Guide.md", ["# Guide", "", "From here to [there](#the-end).", "", "## The end", "", "The end."])
      for name in ["Docs/build", "Docs/Site", "Tests/needs"] {
        let copy = folder.url.appending(path: name)
        try FileManager.default.createDirectory(
          at: copy.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.copyItem(at: Self.root.appending(path: name), to: copy)
      }
    }

    func build() async throws -> Tool.Outcome {
      try await RunningTool(
        executable: folder.url.appending(path: "Docs/build"), ["--output", "site"], in: folder.url
      ).outcome()
    }

    func check() async throws -> Tool.Outcome {
      try await RunningTool(
        executable: Self.root.appending(path: "Tests/site-check"), [folder.path("site")], in: nil
      ).outcome()
    }

    func text(_ name: String) throws -> String {
      try String(contentsOf: folder.url.appending(path: name), encoding: .utf8)
    }

    /// Runs a body while the package has a fault.
    func with<R>(_ fault: Fault, _ body: () async throws -> R) async throws -> R {
      let file = folder.url.appending(path: fault.file)
      let sound = try? Data(contentsOf: file)
      try folder.write(fault.file, [])
      try ((sound ?? Data()) + Data(fault.text.utf8)).write(to: file)
      defer {
        if let sound { try? sound.write(to: file) } else { try? FileManager.default.removeItem(at: file) }
      }
      return try await body()
    }
  }
#endif
