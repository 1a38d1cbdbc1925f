import { Transform, type TransformCallback } from 'node:stream'

const beginning = 'srun: error: '
const exitMessage = /srun: error: \S{1,200}: task 0: Exited with exit code \d+\n/
const error = /(srun|slurmstepd\S*): error: /
const messageCharactersMax = 300

/**
 * Removes the line with which srun repeats the exit code of a session's command. A command that uses srun prints such
 * lines too. The last one is that of the session, so each line is held back until the next one.
 */
export class ExitMessageFilter extends Transform {
  /** true: srun or Slurm on the node reported another error. */
  hasErrors = false
  /** The end of the text, which may be the beginning of a line of srun. */
  #held = ''
  #message = ''

  override _transform(chunk: Buffer, _: BufferEncoding, done: TransformCallback): void {
    let text = this.#held + chunk.toString('latin1')
    for (let found = exitMessage.exec(text); found; found = exitMessage.exec(text)) {
      this.#send(text.slice(0, found.index) + this.#message)
      this.#message = found[0]
      text = text.slice(found.index + this.#message.length)
    }
    const at = findBeginning(text)
    this.#held = text.slice(at)
    this.#send(text.slice(0, at))
    done()
  }

  override _flush(done: TransformCallback): void {
    this.#send(this.#held)
    done()
  }

  #send(text: string): void {
    if (error.test(text)) this.hasErrors = true
    if (text !== '') this.push(Buffer.from(text, 'latin1'))
  }
}

/** Returns where an incomplete line of srun begins, or the end. */
function findBeginning(text: string): number {
  const last = text.lastIndexOf(beginning)
  const isIncomplete = last >= 0 && text.length - last < messageCharactersMax && !text.includes('\n', last)
  if (isIncomplete) return last
  for (let length = Math.min(beginning.length - 1, text.length); length > 0; length--)
    if (text.endsWith(beginning.slice(0, length))) return text.length - length
  return text.length
}
