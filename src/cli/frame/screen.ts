import type { Writable } from 'node:stream'
import measure from 'fast-string-truncated-width'

/** A live view on the alternate screen. Frames write only the lines that changed; `close` restores the screen. */

export interface ScreenStream extends Writable {
  rows?: number | undefined
  columns?: number | undefined
}

const enter = '\u001B[?1049h\u001B[?25l\u001B[H\u001B[J'
const leave = '\u001B[?25h\u001B[?1049l'
const clearLine = '\u001B[K'
const resetStyle = '\u001B[0m'
const unknownSize = Number.POSITIVE_INFINITY

export class Screen {
  readonly #stdout: ScreenStream
  #shown: string[] = []
  #view = ''
  #note = ''
  #isOpen = true
  readonly #redraw = () => {
    // Draws all lines again, because a terminal wraps or cuts lines when it is resized.
    this.#shown = Array.from({ length: this.#rows() }, () => '\u0000')
    this.draw(this.#view)
  }

  constructor(stdout: ScreenStream) {
    this.#stdout = stdout
    stdout.write(enter)
    stdout.on('resize', this.#redraw)
  }

  #rows(): number {
    return this.#stdout.rows || 0
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Shows a message below the view, until the next one. */
  note(line: string): void {
    this.#note = line
    this.draw(this.#view)
  }

  draw(view: string): void {
    if (!this.#isOpen) return
    this.#view = view
    const rows = this.#rows() || unknownSize
    const whole = view.replace(/\n$/, '').split('\n')
    const lines = this.#note === '' ? whole.slice(0, rows) : [...whole.slice(0, Math.max(0, rows - 1)), this.#note]
    const next = lines.map((line) => cutLine(line, this.#stdout.columns || unknownSize))
    let frame = ''
    for (let i = 0; i < Math.max(next.length, this.#shown.length); i++) {
      const line = next[i] ?? ''
      if (line !== (this.#shown[i] ?? '') && i < rows) frame += `\u001B[${i + 1};1H${line}${clearLine}`
    }
    this.#shown = next
    if (frame !== '') this.#stdout.write(frame)
  }

  close(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#stdout.off('resize', this.#redraw)
    this.#stdout.write(leave)
  }
}

function cutLine(line: string, columns: number): string {
  const { truncated, index } = measure(line, { limit: columns })
  return truncated ? `${line.slice(0, index)}${resetStyle}` : line
}
