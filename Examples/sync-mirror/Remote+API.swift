#if SQLite
  import CanonicalSync
  import CanonicalSyncToolSupport
  import HTTPAdapters

  extension DescribedRemote {
    /// A JSON API.
    static let api = DescribedRemote(
      option: .text("api", "FILE", "a description of a JSON API to mirror, in place of a Kinto server")
    ) { (bytes, name, settings) throws(SyncError) in
      let api = try RESTAPI(json: bytes, named: name)
      var options = RESTSource.Options()
      options.allowsPlainHTTP = settings.options.allowsPlainHTTP
      options.bodyLimit = settings.bodyLimit
      options.deadline = settings.options.timeout
      let source = try RESTSource(
        api, options: options, transport: settings.transport, onAlert: settings.onAlert)
      return MirrorRemote(
        source: source, sink: RESTSink(source), types: .declared(try api.schema.entities),
        emptiness: "The description has no type.", renewsCredentials: source.renewsCredentials,
        check: { (chosen) throws(SyncError) in
          let access = try await source.surveyAccess()
          var types: [CheckReport.TypeReport] = []
          for type in api.collections.map(\.entity.type) where chosen.contains(type) {
            let survey = try await source.survey(type, pageSize: settings.options.pageSize)
            types.append(
              CheckReport.TypeReport(type: type, notes: survey.notes, problems: survey.problems))
          }
          return CheckReport(notes: access.notes, problems: access.problems, types: types)
        })
    }
  }
#endif
