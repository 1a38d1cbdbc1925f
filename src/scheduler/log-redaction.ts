import type { Domain } from '../domain/domain.ts'
import type { HoldingRun } from '../domain/jobs/runs.ts'
import { createSecretKeys, type Sealed, seal, Unreadable, unseal } from '../domain/secret-keys.ts'
import { type KeptSecrets, readRunSecrets } from '../domain/secrets/run-secrets.ts'
import type { LogChunk, LogPosition, LogStreamName } from '../executors/executor.ts'
import { createRedactor, type HeldOutput, noHeldOutput, type Redactor } from '../logs/redactor.ts'
import { releaseBlock } from '../platform/blocks.ts'
import { yieldAlone } from '../platform/slices.ts'

/**
 * Replaces the values of a run's secrets in its output, before the output is stored. Output that is held back is part of
 * the position, encrypted with a key of the run, so a pump that continues at a stored position continues with it.
 */
export interface LogRedaction {
  /** Returns the position of the executor within a stored position. */
  open(position: unknown): LogPosition | null
  /** `isCut`: another pump continues the output after the end of `chunks`. */
  redact(chunks: AsyncIterable<LogChunk>, isCut: () => boolean): AsyncIterable<LogChunk>
}

/** null: the run has no secrets. */
export async function openRedaction(domain: Domain, { runId, spec }: HoldingRun): Promise<LogRedaction | null> {
  if (!spec.secrets?.length) return null
  try {
    const kept = await readRunSecrets(domain, runId)
    return kept ? new HoldingRedaction(kept, runId) : dropping
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    domain.log.error({ err: error, run: runId }, 'the output of a run is dropped: its secrets cannot be recognised')
    return dropping
  }
}

interface HeldPosition {
  at: LogPosition
  held: { keyId: string; data: string } | null
}

/** If the server has no key for the values, output is dropped instead of shown. */
const dropping: LogRedaction = {
  open: (position) => (position as HeldPosition | null)?.at ?? null,
  async *redact(chunks) {
    for await (const chunk of chunks) {
      const next: HeldPosition = { at: chunk.next, held: null }
      if ('gap' in chunk) yield { ...chunk, next }
      else {
        yield { gap: 'LOST', bytes: chunk.bytes.length, next }
        releaseBlock(chunk.bytes)
      }
    }
  },
}

const streams: readonly LogStreamName[] = ['STDOUT', 'STDERR', 'SYSTEM']
/** Many long secrets take milliseconds for each slice. */
const sliceBytes = 32_768

class HoldingRedaction implements LogRedaction {
  readonly #redactor: Redactor
  readonly #keys: ReturnType<typeof createSecretKeys>
  readonly #context: string
  #at: LogPosition = null
  #held = new Map<LogStreamName, HeldOutput>()

  constructor({ values, key }: KeptSecrets, runId: string) {
    this.#redactor = createRedactor(Object.values(values))
    this.#keys = createSecretKeys([Buffer.from(key, 'base64')])
    this.#context = `output ${runId}`
  }

  open(position: unknown): LogPosition | null {
    const { at, held } = (position ?? { at: null, held: null }) as HeldPosition
    this.#held = held === null ? new Map() : this.#unseal({ ...held, data: Buffer.from(held.data, 'base64') })
    this.#at = at
    return at
  }

  async *redact(chunks: AsyncIterable<LogChunk>, isCut: () => boolean): AsyncGenerator<LogChunk> {
    for await (const chunk of chunks) {
      this.#at = chunk.next
      if ('gap' in chunk) yield { ...chunk, next: this.#position() }
      else {
        const bytes = await this.#redact(chunk.stream, chunk.bytes)
        if (bytes.buffer !== chunk.bytes.buffer) releaseBlock(chunk.bytes)
        if (bytes.length > 0) yield { stream: chunk.stream, bytes, next: this.#position() }
      }
    }
    if (isCut()) return
    for (const stream of streams) {
      const bytes = this.#redactor.end(this.#held.get(stream) ?? noHeldOutput)
      this.#held.delete(stream)
      if (bytes.length > 0) yield { stream, bytes, next: this.#position() }
    }
  }

  async #redact(stream: LogStreamName, bytes: Uint8Array): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    for (let at = 0; at < bytes.length; at += sliceBytes) {
      if (at > 0) await yieldAlone()
      const slice = bytes.subarray(at, at + sliceBytes)
      const { bytes: part, held } = this.#redactor.redact(this.#held.get(stream) ?? noHeldOutput, slice)
      this.#held.set(stream, held)
      parts.push(part)
    }
    return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  }

  #position(): HeldPosition {
    const at = this.#at
    const held = [...this.#held].filter(([, { bytes, isAfterMask }]) => bytes.length > 0 || isAfterMask)
    if (held.length === 0) return { at, held: null }
    const texts = held.map(([stream, { bytes, ...rest }]) => [stream, { ...rest, bytes: bytes.toString('base64') }])
    const { keyId, data } = seal(this.#keys, this.#context, JSON.stringify(texts))
    return { at, held: { keyId, data: Buffer.from(data).toString('base64') } }
  }

  #unseal(sealed: Sealed): Map<LogStreamName, HeldOutput> {
    const texts = JSON.parse(unseal(this.#keys, this.#context, sealed)) as [
      LogStreamName,
      Omit<HeldOutput, 'bytes'> & { bytes: string },
    ][]
    return new Map(texts.map(([stream, held]) => [stream, { ...held, bytes: Buffer.from(held.bytes, 'base64') }]))
  }
}
