import type { Cli } from '../frame/cli.ts'

/** Adds a prefix to lines of output, and writes only whole lines, so that lines of several jobs do not mix. */
export class LinePrefix {
  readonly #cli: Cli
  readonly #prefix: string
  #rest = ''

  constructor(cli: Cli, prefix: string) {
    this.#cli = cli
    this.#prefix = prefix
  }

  async write(text: string): Promise<void> {
    if (this.#prefix === '') return this.#cli.terminal.write(text)
    const lines = `${this.#rest}${text}`.split('\n')
    this.#rest = lines.pop() ?? ''
    await this.#cli.terminal.write(lines.map((line) => `${this.#prefix}${line}\n`).join(''))
  }

  async end(): Promise<void> {
    const rest = this.#rest
    this.#rest = ''
    if (rest !== '') await this.#cli.terminal.write(`${this.#prefix}${rest}\n`)
  }
}
