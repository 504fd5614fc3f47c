public import SyncModels

/// Runs the app's work in the background: an operating system's scheduler, or a server's own.
///
/// For implementers: keep at most one pending request of each kind, and when one comes due pass it
/// to the work that ``run(_:)`` was given. The engine decides what the work does and when the next
/// request begins. The scheduler knows which civil time an instant has (the app's time zone and its
/// daylight-saving changes).
public protocol BackgroundScheduler: Sendable {
  /// Submits a request, which replaces the pending request of the same kind, if any.
  ///
  /// The work begins no earlier than the request says. The method may be called at any time and
  /// from any thread: before ``run(_:)``, in between, and by the work itself. It returns at once.
  ///
  /// - Returns: The earliest begin, resolved: the time to show. A scheduler may begin later, as
  ///   systems do to save power and servers to spread load, never earlier.
  /// - Throws: `invalidConfiguration` if the system accepts no requests of the kind, for example
  ///   because the app lacks a permission. The pending request, if any, is then unchanged.
  @discardableResult
  func submit(_ request: BackgroundRequest) throws(SyncError) -> Timestamp

  /// Passes each request that comes due to the work, until the calling task is cancelled.
  ///
  /// The engine calls it once, and everything happens inside the call:
  ///
  /// 1. Wait until a pending request's earliest begin has come; if it needs the network, until the
  ///    network is not known to be away; if it needs external power, until the machine is not known
  ///    to run on a battery.
  /// 2. Remove the request from the pending ones *before* the work is called: the work submits the
  ///    next of its kind first of all.
  /// 3. Call the work with the kind and a token. One kind's work is never called again before it
  ///    has returned. The other kind's may be called meanwhile, or has to wait, as suits the
  ///    platform.
  /// 4. When the platform's time is up (a system's expiration handler, a server's SIGTERM), cancel
  ///    the token, with a ``CancellationSource``, and wait for the work. It stops after its current
  ///    page, with everything saved.
  /// 5. Report the outcome to the platform.
  ///
  /// When the calling task is cancelled: begin nothing more, wait for the work under way (it is a
  /// child task and sees the cancellation as well), return. Pending requests stay pending.
  func run(
    _ work: @escaping @Sendable (BackgroundRequest.Kind, any CancellationToken) async -> BackgroundOutcome
  ) async
}

/// The outcome of background work, as platforms distinguish it.
public enum BackgroundOutcome: String, Hashable, Sendable, Codable {
  /// All was done, nothing was due, or the part done in time is saved.
  case succeeded
  /// Nothing could be done although it should have been.
  case failed
}
