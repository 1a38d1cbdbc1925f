import { useSyncExternalStore } from 'react'

/**
 * The token of this tab, in memory and in `sessionStorage`; GraphiQL uses the same entry. Another tab passes its token on
 * when a new tab asks, and all tabs forget it at the log-out. It is never part of a URL or a cookie.
 */
const storageKey = 'berth-token'

type Message = { kind: 'ASK' } | { kind: 'TOKEN'; token: string } | { kind: 'LOG_OUT' }

export interface SessionState {
  token: string
  /** Requests wait for a token. */
  needsLogIn: boolean
  /** The server refused the token that was used. */
  isRefused: boolean
}

class Session {
  #state: SessionState = { token: sessionStorage.getItem(storageKey) ?? '', needsLogIn: false, isRefused: false }
  #waiting: PromiseWithResolvers<string> | null = null
  readonly #listeners = new Set<() => void>()
  readonly #tabs = new BroadcastChannel('berth-session')

  constructor() {
    this.#tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => this.#receive(data))
  }

  readonly state = (): SessionState => this.#state

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** The token for a request; waits for a person when the server refused the present one. */
  readonly provide = (refused: string | undefined): string | Promise<string> => {
    const { token } = this.#state
    if (refused === undefined || refused !== token) return token
    this.requireLogIn(true)
    this.#waiting ??= Promise.withResolvers<string>()
    return this.#waiting.promise
  }

  requireLogIn(isRefused: boolean): void {
    if (!this.#state.needsLogIn) this.#change({ needsLogIn: true, isRefused })
  }

  logIn(token: string): void {
    sessionStorage.setItem(storageKey, token)
    this.#change({ token, needsLogIn: false, isRefused: false })
    this.#waiting?.resolve(token)
    this.#waiting = null
  }

  logOut(): void {
    this.#send({ kind: 'LOG_OUT' })
    this.#forget()
  }

  /** The token of another tab; empty: no tab has one. */
  async askTabs(): Promise<string> {
    this.#send({ kind: 'ASK' })
    const answerMsMax = 150
    for (let waitedMs = 0; waitedMs < answerMsMax && this.#state.token === ''; waitedMs += 10)
      await new Promise((resolve) => setTimeout(resolve, 10))
    return this.#state.token
  }

  #receive(message: Message) {
    const { token } = this.#state
    if (message.kind === 'ASK' && token !== '') this.#send({ kind: 'TOKEN', token })
    if (message.kind === 'TOKEN' && token === '') this.logIn(message.token)
    if (message.kind === 'LOG_OUT') this.#forget()
  }

  #forget() {
    sessionStorage.removeItem(storageKey)
    // A fresh page has no data of the user in memory.
    location.reload()
  }

  #send(message: Message) {
    this.#tabs.postMessage(message)
  }

  #change(change: Partial<SessionState>) {
    this.#state = { ...this.#state, ...change }
    for (const listener of this.#listeners) listener()
  }
}

export const session = new Session()
export const useSession = (): SessionState => useSyncExternalStore(session.subscribe, session.state)
