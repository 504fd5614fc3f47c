// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation
// The declarations of Apple's BackgroundTasks that Sources/AppleAdapters uses, after its documentation.
public import Foundation

open class BGTask {
  public var expirationHandler: (() -> Void)?
  public init() {}
  public func setTaskCompleted(success: Bool) {}
}

open class BGTaskRequest {
  public var earliestBeginDate: Date?
  init() {}
}

public final class BGAppRefreshTaskRequest: BGTaskRequest {
  public init(identifier: String) {}
}

public final class BGProcessingTaskRequest: BGTaskRequest {
  public var requiresNetworkConnectivity = false
  public var requiresExternalPower = false
  public init(identifier: String) {}
}

public final class BGTaskScheduler: Sendable {
  public static let shared = BGTaskScheduler()
  public func register(
    forTaskWithIdentifier identifier: String, using queue: DispatchQueue?,
    launchHandler: @escaping (BGTask) -> Void
  ) -> Bool { false }
  public func submit(_ request: BGTaskRequest) throws {}
}
