import { RequestFailed } from '../../client/connection/failure.ts'
import { exitCodes, Stop } from '../frame/exit.ts'
import { nowMs } from '../reading/times.ts'
import type { Context, ContextFiles, OpenIdLogIn } from './context-files.ts'

/** After a failed renewal, the next attempt waits this long if the token is still valid. */
const retryAfterMs = 10_000

/**
 * Provides the token of a log-in by OpenID. Renews it before it expires, and when the server refuses it. Concurrent
 * commands renew it only once, because a refresh token is valid for one use.
 */
export class LogInRenewal {
  readonly #files: ContextFiles
  readonly #name: string
  #context: Context
  #renewing: Promise<string> | undefined
  #renewedUponRefusal: string | undefined
  #retryAtMs = 0

  constructor(files: ContextFiles, name: string) {
    this.#files = files
    this.#name = name
    this.#context = files.read(name)
  }

  async token(refused: string | undefined): Promise<string> {
    const usable = findUsable(this.#context, refused)
    if (usable && nowMs() < Math.max(usable.renewAtMs, this.#retryAtMs)) return usable.token
    this.#renewing ??= this.#renewUnderLock(refused).finally(() => {
      this.#renewing = undefined
    })
    return this.#renewing
  }

  async #renewUnderLock(refused: string | undefined): Promise<string> {
    try {
      return await this.#files.withLock(this.#name, () => this.#renew(refused))
    } catch (error) {
      // The client retries other errors, such as an unreachable server.
      if (!(error instanceof Stop)) throw error
      const { message, next, exitCode } = error
      if (exitCode === exitCodes.retryable) throw new RequestFailed('UNAVAILABLE', message, { cause: error })
      const text = [message, next].filter(Boolean).join('; ')
      throw new RequestFailed('LOG_IN_FAILED', text, { token: 'REFUSED', cause: error })
    }
  }

  async #renew(refused: string | undefined): Promise<string> {
    // Reads the file again, because another command may have renewed or ended the log-in.
    this.#context = this.#files.read(this.#name)
    const usable = findUsable(this.#context, refused)
    if (usable && nowMs() < usable.renewAtMs) return usable.token
    const { openId, url } = this.#context
    if (refused !== undefined && refused === this.#renewedUponRefusal)
      throw this.#failure(`${url} refuses your renewed log-in`)
    if (!openId?.refreshToken) return usable?.token ?? this.#end()
    const { renewLogIn } = await import('./open-id.ts')
    try {
      const renewed = await renewLogIn({ ...openId, refreshToken: openId.refreshToken })
      if (!renewed) return usable?.token ?? this.#end()
      this.#context = { ...this.#context, ...renewed }
      this.#files.write(this.#name, this.#context)
      if (refused !== undefined) this.#renewedUponRefusal = renewed.token
      return renewed.token
    } catch (error) {
      if (!usable) throw error
      this.#retryAtMs = nowMs() + retryAfterMs
      return usable.token
    }
  }

  #end(): never {
    throw this.#failure(`your log-in to ${this.#context.url} has ended`)
  }

  #failure(reason: string): RequestFailed {
    const again = this.#files.readCurrent() === this.#name ? 'berth login' : `berth login --context ${this.#name}`
    return new RequestFailed('LOG_IN_FAILED', `${reason}; log in again: ${again}`, { token: 'REFUSED' })
  }
}

/** Returns the token if it has not expired and the server has not refused it. */
function findUsable(
  { token, openId }: Context,
  refused: string | undefined,
): (Pick<OpenIdLogIn, 'renewAtMs'> & { token: string }) | null {
  if (token === null || token === refused) return null
  if (openId === null) return { token, renewAtMs: Number.POSITIVE_INFINITY }
  return nowMs() < openId.expiresAtMs ? { token, renewAtMs: openId.renewAtMs } : null
}
