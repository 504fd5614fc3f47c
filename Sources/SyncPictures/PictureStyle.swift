import CanonicalSyncPages
import SyncSimulation

/// The style of a picture, besides that of all pages.
enum PictureStyle {
  /// The style sheet.
  static let sheet: HTML = """
    .story { display: block; color: inherit; }
    .story dt { margin-top: .75rem; }
    .story ul { margin: 0; padding-left: 1.25rem; }
    .story a, .ways { white-space: nowrap; font-size: .875rem; }
    figcaption { font-weight: normal; color: var(--quiet); font-size: .875rem; }
    svg { overflow: visible; color: var(--text); }
    svg.world { display: block; background: var(--surface); }
    svg.glyph { width: 1.125rem; height: 1.125rem; vertical-align: -.1875rem; }
    svg a { color: inherit; }
    svg text { fill: currentColor; font: .8125rem system-ui, sans-serif; }
    svg text.quiet, span.quiet { color: var(--quiet); }
    svg text.number { color: var(--link); font-weight: 600; }
    path { fill: none; stroke: var(--text); stroke-width: 2; stroke-linejoin: round; }
    path.line { stroke: var(--rule); stroke-width: 1; }
    path.link { stroke: var(--quiet); stroke-width: 1.5; stroke-dasharray: 3 3; }
    path.write, path.commit, path.life { fill: currentColor; }
    path.edit, path.page, path.push { fill: var(--page); }
    path.fault, path.crash, path.stop, path.clock { stroke: var(--warning); stroke-width: 2.5; }
    path.broken { stroke: var(--bad); fill: var(--bad); }
    rect.band { fill: none; stroke: var(--link); stroke-width: 1.5; }
    rect.broken { stroke: var(--bad); }
    .steps { list-style: none; padding: 0; margin: 0; }
    .steps > li { padding: .125rem .5rem; border-left: .25rem solid transparent; scroll-margin-top: 4rem; }
    .steps > li:target { outline: 3px solid var(--link); }
    .steps p { margin: .125rem 0; }
    .steps ul { margin: 0 0 .25rem; padding-left: 2.75rem; font-size: .875rem; }
    .steps .cited { border-color: var(--link); background: var(--surface); }
    .steps .broken { border-color: var(--bad); background: var(--surface); }
    .note { font-weight: 600; }
    .omitted { color: var(--quiet); text-align: center; }
    .steps span.quiet { font-size: .875rem; font-variant-numeric: tabular-nums; }

    """
}
