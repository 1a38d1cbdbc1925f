/** Texts that an unsafe console would run, which sets `globalThis.hit`. */
const run = 'globalThis.hit = 1'
export const hostileMarkup: readonly string[] = [
  `<img src=x onerror="${run}">`,
  `<script>${run}</script>`,
  `"><svg onload="${run}">`,
  `javascript:${run}`,
  `[link](javascript:${run})`,
  '\u202egnp.exe',
  '{{7*7}}',
]

/** Texts that an unsafe command line would write to the terminal, where they have an effect. */
export const hostileSequences: readonly string[] = [
  '\u001b[2J\u001b[31mred',
  '\u001b]0;title\u0007',
  '\u001b]8;;http://evil.example\u001b\\link',
  '\u009b2J\u0090',
  'over\rwritten\b\u007f',
  'two\nlines\u0085\u2028',
  'un\u200bseen\u{e0041}',
]
