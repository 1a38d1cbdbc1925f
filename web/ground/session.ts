import { useSyncExternalStore } from 'react'
import { type Credential, type Renewal, readCredential, removeCredential, storeCredential } from './credential.ts'
import { loadPart } from './load-part.ts'
import { createListeners } from './store.ts'

/**
 * The log-in of this tab, in memory and in `sessionStorage`. A new tab gets the credential from another tab, one tab
 * renews it for all, and all tabs delete it at log-out. No part of it is in a URL or a cookie.
 */
type Message = { kind: 'ASK' } | { kind: 'CREDENTIAL'; credential: Credential } | { kind: 'LOG_OUT' }

export interface SessionState {
  /** Requests wait until the user logs in. */
  needsLogIn: boolean
  /** The server refused the token that was used. */
  isRefused: boolean
  /** Why the log-in failed. */
  trouble: string | null
}

const renewLock = 'berth-renew'
/** Maximum time that a message to another tab may take. */
const passOnMs = 1_000
const retryMs = 5_000
const timerMsMax = 2 ** 31 - 1
/** If the server refuses a token so soon after its renewal, another renewal would not help. */
const refusedSoonMs = 10_000

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

class Session {
  #state: SessionState = { needsLogIn: false, isRefused: false, trouble: null }
  #credential: Credential = readCredential()
  #waiting: PromiseWithResolvers<string> | null = null
  #timer: ReturnType<typeof setTimeout> | undefined
  readonly #listeners = createListeners()
  readonly #tabs = new BroadcastChannel('berth-session')

  constructor() {
    this.#tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => this.#receive(data))
    this.#scheduleRenewal()
  }

  readonly state = (): SessionState => this.#state

  readonly subscribe = this.#listeners.add

  get hasToken(): boolean {
    return this.#credential.token !== ''
  }

  /** Returns the token for a request. If the server refused it, renews it or waits for the user to log in. */
  readonly provide = async (refused: string | undefined): Promise<string> => {
    const { token, renewal } = this.#credential
    if (refused === undefined || refused !== token) return token
    if (renewal && Date.now() - renewal.renewedAtMs > refusedSoonMs) await this.#renew(renewal)
    return this.#credential.token === refused ? this.#waitForPerson() : this.#credential.token
  }

  requireLogIn(change: Partial<SessionState> = {}): void {
    if (!this.#state.needsLogIn) this.#change({ ...change, needsLogIn: true })
  }

  /** Resolves with the token when the user has logged in. */
  untilLogIn(): Promise<string> {
    this.#waiting ??= Promise.withResolvers<string>()
    return this.#waiting.promise
  }

  /** Uses the credential in this tab, and in other tabs that wait for a log-in. */
  logIn(credential: Credential): void {
    this.#send({ kind: 'CREDENTIAL', credential })
    this.#use(credential)
  }

  /** Reloads the page if the user is another one, because it shows data of the former user. */
  setUser(userId: string): void {
    this.#use({ ...this.#credential, userId })
  }

  async logOut(): Promise<void> {
    const { renewal } = this.#credential
    this.#send({ kind: 'LOG_OUT' })
    removeCredential()
    // From here on, tabs that ask for the credential get none.
    this.#credential = readCredential()
    clearTimeout(this.#timer)
    if (renewal) {
      const { revoke } = await loadPart(() => import('./open-id.ts'))
      // If the provider cannot revoke the token, it expires.
      await Promise.race([revoke(renewal).catch(() => undefined), sleep(passOnMs)])
    }
    this.#forget()
  }

  /** Asks the other tabs for a credential. true: this tab has one now. */
  async askTabs(): Promise<boolean> {
    this.#send({ kind: 'ASK' })
    const answerMsMax = 150
    for (let waitedMs = 0; waitedMs < answerMsMax && !this.hasToken; waitedMs += 10) await sleep(10)
    return this.hasToken
  }

  #receive(message: Message) {
    if (message.kind === 'LOG_OUT') return this.#forget()
    if (message.kind === 'CREDENTIAL') return this.#receiveCredential(message.credential)
    if (this.hasToken && !this.#state.needsLogIn) this.#send({ kind: 'CREDENTIAL', credential: this.#credential })
  }

  #receiveCredential(credential: Credential) {
    const { userId, renewal } = this.#credential
    const renewedAtMs = credential.renewal?.renewedAtMs ?? 0
    const isRenewed = renewal && credential.userId === userId && renewedAtMs > renewal.renewedAtMs
    if (!this.hasToken || this.#state.needsLogIn || isRenewed) this.#use(credential)
  }

  #use(credential: Credential) {
    const { userId } = this.#credential
    this.#credential = credential
    storeCredential(credential)
    if (userId !== null && credential.userId !== userId) return location.reload()
    this.#scheduleRenewal()
    if (this.#state.needsLogIn) this.#change({ needsLogIn: false, isRefused: false, trouble: null })
    this.#waiting?.resolve(credential.token)
    this.#waiting = null
  }

  #waitForPerson(): Promise<string> {
    this.requireLogIn({ isRefused: true })
    return this.untilLogIn()
  }

  #scheduleRenewal(afterMs?: number) {
    const { renewal } = this.#credential
    clearTimeout(this.#timer)
    if (!renewal) return
    const renew = () => this.#renew(renewal).catch(() => this.#scheduleRenewal(retryMs))
    const waitMs = afterMs ?? Math.max(renewal.renewAtMs - Date.now(), 0)
    this.#timer = setTimeout(() => void renew(), Math.min(waitMs, timerMsMax))
  }

  /**
   * One tab renews for all, because a provider accepts a refresh token once. It holds a lock until its message with the
   * credential has reached the other tabs. Throws if the provider is unreachable.
   */
  async #renew(renewal: Renewal) {
    const { renew } = await loadPart(() => import('./open-id.ts'))
    await new Promise<void>((resolve, reject) => {
      const renewForAll = async () => {
        if (this.#credential.renewal !== renewal) return resolve()
        try {
          const renewed = await renew(renewal)
          if (this.#credential.renewal !== renewal) return resolve()
          this.logIn({ ...this.#credential, ...(renewed ?? { renewal: null }) })
          resolve()
        } catch (error) {
          reject(error)
        }
        await sleep(passOnMs)
      }
      void navigator.locks.request(renewLock, renewForAll)
    })
  }

  #forget() {
    removeCredential()
    // A reload removes the data of the user from memory.
    location.reload()
  }

  #send(message: Message) {
    this.#tabs.postMessage(message)
  }

  #change(change: Partial<SessionState>) {
    this.#state = { ...this.#state, ...change }
    this.#listeners.call()
  }
}

export const session = new Session()
export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.state)
