import { FitAddon } from '@xterm/addon-fit'
import { type ITheme, Terminal } from '@xterm/xterm'
import xtermCss from '@xterm/xterm/css/xterm.css?inline'
import { useEffect, useRef, useState } from 'react'
import { toFailure } from '../../../ground/to-failure.ts'
import { Button } from '../../../parts/button.tsx'
import { useCanvasColors } from '../../../parts/canvas-colors.ts'
import { formatServerText } from '../../../parts/server-text.ts'
import ownCss from './terminal.css?inline'
import { runTerminal, type TerminalState } from './terminal-session.ts'

/** The content security policy allows style sheets made by scripts. This one is loaded only with the terminal. */
const sheet = new CSSStyleSheet()
sheet.replaceSync(xtermCss + ownCss)

/**
 * The terminal library sets the attribute `style` of spans, which the content security policy forbids. Setting
 * `style.cssText` from a script has the same effect and is allowed.
 */
HTMLSpanElement.prototype.setAttribute = function (name: string, value: string) {
  if (name === 'style') this.style.cssText = value
  else Element.prototype.setAttribute.call(this, name, value)
}

/** Opens the terminal, and gives the style elements that it adds the nonce of the page. */
function openWithNonce(terminal: Terminal, box: HTMLElement): void {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? ''
  const create = document.createElement.bind(document)
  document.createElement = ((...given: Parameters<typeof create>) =>
    Object.assign(create(...given), given[0] === 'style' && { nonce })) as typeof create
  try {
    terminal.open(box)
  } finally {
    Reflect.deleteProperty(document, 'createElement')
  }
}

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const
const bright = (name: (typeof names)[number]) => `bright${name[0]?.toUpperCase()}${name.slice(1)}`
const colors = {
  background: 'light-dark(#fbfcfd, #0f1318)',
  foreground: 'var(--ink)',
  cursor: 'var(--accent)',
  cursorAccent: 'var(--accent-ink)',
  selectionBackground: 'var(--selected)',
  scrollbarSliderBackground: 'var(--line)',
  scrollbarSliderHoverBackground: 'var(--line-strong)',
  scrollbarSliderActiveBackground: 'var(--line-strong)',
  ...Object.fromEntries(
    names.flatMap((name, i) => [
      [name, `var(--ansi-${i})`],
      [bright(name), `var(--ansi-${i + names.length})`],
    ]),
  ),
} satisfies ITheme

const scrollbackLines = 10_000

interface TerminalViewProps {
  jobId: string
  isRunning: boolean
}

export function TerminalView({ jobId, isRunning }: TerminalViewProps) {
  const [round, setRound] = useState(0)
  return <OneTerminal key={round} jobId={jobId} onAgain={isRunning ? () => setRound(round + 1) : null} />
}

/** A terminal session. Programs in it cannot set the title of the page or write to the clipboard. */
function OneTerminal({ jobId, onAgain }: { jobId: string; onAgain: (() => void) | null }) {
  const box = useRef<HTMLDivElement>(null)
  const shown = useRef<Terminal | null>(null)
  const [state, setState] = useState<TerminalState>({ kind: 'OPENING' })
  const theme = useCanvasColors(colors)
  const firstTheme = useRef(theme)
  useEffect(() => {
    const leave = new AbortController()
    const { terminal, close } = openTerminal(box.current as HTMLDivElement, firstTheme.current)
    shown.current = terminal
    runTerminal(jobId, terminal, { signal: leave.signal, onState: setState }).catch((error: unknown) => {
      if (!leave.signal.aborted) setState({ kind: 'REFUSED', message: toFailure(error).message })
    })
    return () => {
      leave.abort()
      close()
    }
  }, [jobId])
  useEffect(() => {
    if (shown.current) shown.current.options.theme = theme
  }, [theme])
  const isOver = state.kind === 'ENDED' || state.kind === 'REFUSED'
  return (
    <section className="berth-terminal" aria-label="Terminal">
      <div ref={box} className="berth-screen" />
      <footer className="berth-status" data-kind={state.kind}>
        <span role="status">{describe(state)}</span>
        <span>
          Recorded: who, when, from where, the command and the number of bytes – not what is typed or printed.
        </span>
        {isOver && onAgain && <Button onClick={onAgain}>Open a new terminal</Button>}
      </footer>
    </section>
  )
}

function openTerminal(box: HTMLDivElement, theme: ITheme): { terminal: Terminal; close: () => void } {
  if (!document.adoptedStyleSheets.includes(sheet)) document.adoptedStyleSheets.push(sheet)
  const { fontFamily } = getComputedStyle(box)
  const terminal = new Terminal({
    cursorBlink: true,
    fontFamily,
    fontSize: 13,
    lineHeight: 1.25,
    minimumContrastRatio: 4.5,
    scrollback: scrollbackLines,
    theme,
  })
  const fit = new FitAddon()
  terminal.loadAddon(fit)
  openWithNonce(terminal, box)
  fit.fit()
  terminal.focus()
  const observer = new ResizeObserver(() => fit.fit())
  observer.observe(box)
  return {
    terminal,
    close: () => {
      observer.disconnect()
      terminal.dispose()
    },
  }
}

function describe(state: TerminalState): string {
  switch (state.kind) {
    case 'OPENING':
      return 'Connecting…'
    case 'OPEN':
      return 'Connected'
    case 'CUT':
      return 'Reconnecting…'
    case 'REFUSED':
      return formatServerText(state.message)
    case 'ENDED':
      return state.exitCode === null ? (state.reason ?? 'Ended') : `Ended with exit code ${state.exitCode}`
  }
}
