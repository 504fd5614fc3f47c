/// The style that all pages have: light and dark, narrow and wide.
package enum PageStyle {
  /// The style sheet.
  ///
  /// Its colours have a contrast of 4.5 to 1 or more as text, and of 3 to 1 as lines.
  package static let sheet: HTML = """
    :root {
      color-scheme: light dark;
      --page: #ffffff; --surface: #f4f6f8; --text: #1a1f24; --quiet: #4f5964; --rule: #c9d1d9;
      --link: #0550ae; --good: #116329; --warning: #7d4e00; --bad: #a40e26; --line: #0550ae; --stopped: #6e7781;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --page: #0d1117; --surface: #161b22; --text: #e6edf3; --quiet: #a5afba; --rule: #30363d;
        --link: #79b8ff; --good: #56d364; --warning: #e3b341; --bad: #ff8f87; --line: #79b8ff; --stopped: #8b949e;
      }
    }
    * { box-sizing: border-box; }
    body {
      margin: 0 auto; max-width: 80rem; padding: 1rem; background: var(--page); color: var(--text);
      font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
    }
    a { color: var(--link); }
    :focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
    main:focus { outline: none; }
    .skip { position: absolute; left: -999rem; }
    .skip:focus { position: static; }
    header { border-left: .5rem solid var(--rule); padding: .25rem 1rem; background: var(--surface); }
    header.good { border-color: var(--good); }
    header.warning { border-color: var(--warning); }
    header.bad { border-color: var(--bad); }
    h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
    h2 { font-size: 1.25rem; margin: 2rem 0 .5rem; border-bottom: 1px solid var(--rule); }
    p { margin: .5rem 0; }
    nav ul, .legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
    code, pre { font: .875rem/1.5 ui-monospace, monospace; }
    pre { white-space: pre-wrap; background: var(--surface); padding: .5rem; margin: .25rem 0; }
    .scroll { overflow-x: auto; margin: .5rem 0; overflow-wrap: normal; }
    table { border-collapse: collapse; font-size: .875rem; }
    th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--rule); }
    thead th { color: var(--quiet); }
    tbody th { font-weight: 600; }
    .good { color: var(--good); }
    .warning { color: var(--warning); }
    .bad { color: var(--bad); font-weight: 600; }
    header.good, header.warning, header.bad { color: inherit; font-weight: inherit; }
    dl { display: grid; grid-template-columns: max-content 1fr; gap: .125rem 1rem; color: var(--quiet); }
    dt { font-weight: 600; }
    dd { margin: 0; }
    details { border: 1px solid var(--rule); border-radius: .25rem; margin: .5rem 0; padding: 0 .75rem; }
    summary { cursor: pointer; padding: .5rem 0; }
    figure { margin: 1rem 0; }
    figcaption { font-weight: 600; }
    footer { margin-top: 2rem; border-top: 1px solid var(--rule); color: var(--quiet); font-size: .875rem; }

    """
}
