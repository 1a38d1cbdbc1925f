import { type Doubt, KubeletMessage } from './log-entries.ts'

/** The output of a pod without stamps; requested when the first ambiguous stamp appears. */
export class PlainOutput {
  readonly #open: () => Promise<AsyncIterable<Buffer>>
  #answer: AsyncIterator<Buffer> | null = null
  #text = ''
  #passed = 0

  constructor(open: () => Promise<AsyncIterable<Buffer>>) {
    this.#open = open
  }

  /**
   * true: the job printed the stamp. Compares the bytes before it to make sure that both responses come from the same
   * file.
   */
  async has({ offset, before, text }: Doubt): Promise<boolean> {
    const expected = before + text
    do {
      this.#passTo(offset - before.length)
      const known = this.#text.slice(0, expected.length)
      const hasMore = known.length > before.length
      if (hasMore && !known.startsWith(before)) throw new KubeletMessage('The output was rotated meanwhile')
      if (known === expected) return true
      if (hasMore && !expected.startsWith(known)) return false
    } while (await this.#readOn())
    return false
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#answer?.return?.()
  }

  #passTo(offset: number): void {
    const passed = Math.min(this.#text.length, offset - this.#passed)
    this.#text = this.#text.slice(passed)
    this.#passed += passed
  }

  async #readOn(): Promise<boolean> {
    this.#answer ??= (await this.#open())[Symbol.asyncIterator]()
    const { value, done } = await this.#answer.next()
    if (!done) this.#text += value.toString('latin1')
    return !done
  }
}
