#if SQLite
  import CanonicalSync
  import SyncAdapters
  import CanonicalSyncToolSupport
  import CloudKitAdapters

  extension DescribedRemote {
    /// A CloudKit database that a file describes.
    static let cloudKit = DescribedRemote(
      option: .text("cloudkit", "FILE", "a description of a CloudKit database, in place of a Kinto server")
    ) { (bytes, name, settings) throws(SyncError) in
      #if CloudKit
        let declaration = try CloudKitDeclaration(bytes, of: name)
        var options = CloudKitSource.Options()
        options.deadline = settings.options.timeout
        let source = try declaration.source(options: options, transport: settings.transport)
        return MirrorRemote(
          source: source, sink: CloudKitSink(source), types: .declared(declaration.schema.entities),
          emptiness: "The description has no type.",
          check: { (chosen) throws(SyncError) in
            var types: [CheckReport.TypeReport] = []
            for entity in declaration.schema.entities where chosen.contains(entity.type) {
              types.append(try await check(entity, source, isPublic: declaration.database.scope == .public))
            }
            return CheckReport(types: types)
          })
      #else
        throw SyncError(
          .invalidConfiguration, during: "preparing to reach CloudKit",
          "sync-mirror was built without the trait CloudKit, which --cloudkit needs: build it with --traits CloudKit,Curl,SQLite."
        )
      #endif
    }

    #if CloudKit
      /// Asks for the first page of a type, and tells what was found.
      private static func check(
        _ entity: Entity, _ source: CloudKitSource, isPublic: Bool
      ) async throws(SyncError) -> CheckReport.TypeReport {
        var report = CheckReport.TypeReport(type: entity.type, notes: [], problems: [])
        do throws(SyncError) {
          let page = try await source.page(
            PageRequest(entity: entity, position: .start(since: nil), limit: 50, pass: 1))
          let malformed = page.changes.count { if case .malformed = $0 { true } else { false } }
          report.notes.append("the first page has \(Counted(page.changes.count, "record"))")
          report.notes.append(
            isPublic
              ? "deltas are by modification time; deletions are found by listings of keys"
              : "deltas are by change tokens, with tombstones")
          if malformed > 0 { report.problems.append("\(Counted(malformed, "record")) cannot be read") }
        } catch {
          if error.code == .authentication || error.code == .remoteUnavailable { throw error }
          report.problems.append(error.message)
        }
        return report
      }
    #endif
  }
#endif
