import { Navigate } from '@tanstack/react-router'
import { type FormEvent, useLayoutEffect, useRef, useState } from 'react'
import { findUserOfToken } from '../../ground/check-token.ts'
import { findProvider, findTitle, leaveForProvider, openProviderInTab } from '../../ground/log-in-first.ts'
import type { Provider } from '../../ground/open-id.ts'
import { session, useSession } from '../../ground/session.ts'
import { Button } from '../../parts/button.tsx'
import styles from './log-in.module.css'

const refusedText = 'The server does not know this token, or it has expired.'

/** The log-in as a modal dialog. The page below keeps its URL and its input. */
export function LogIn() {
  const { isRefused, trouble } = useSession()
  const provider = findProvider()
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      className={styles.page}
      aria-labelledby="log-in-title"
      onCancel={(event) => event.preventDefault()}
    >
      <div className={styles.card}>
        <h2 id="log-in-title">Log in to {findTitle()}</h2>
        {isRefused && (
          <p role="alert">Your log-in has ended. This page stays as it is, and goes on when you log in again.</p>
        )}
        {trouble && (
          <p role="alert" className={styles.trouble}>
            {trouble}
          </p>
        )}
        {provider && <ProviderLogIn provider={provider} isRefused={isRefused} />}
        <TokenForm isAlone={provider === null} />
      </div>
    </dialog>
  )
}

function ProviderLogIn({ provider, isRefused }: { provider: Provider; isRefused: boolean }) {
  const [failure, setFailure] = useState<string | null>(null)
  const leave = () =>
    leaveForProvider(provider).catch((error: unknown) =>
      setFailure(`${new URL(provider.issuer).host} is unreachable: ${error instanceof Error ? error.message : error}`),
    )
  return (
    <>
      <Button look="primary" onClick={() => (isRefused ? openProviderInTab() : void leave())}>
        Log in with {new URL(provider.issuer).host}
      </Button>
      {failure && (
        <p role="alert" className={styles.trouble}>
          {failure}
        </p>
      )}
      <p className={styles.or}>or with a token</p>
    </>
  )
}

function TokenForm({ isAlone }: { isAlone: boolean }) {
  const [token, setToken] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const logIn = async (event: FormEvent) => {
    event.preventDefault()
    const wanted = token.trim()
    setBusy(true)
    try {
      const userId = await findUserOfToken(wanted)
      setTrouble(refusedText)
      if (userId !== null) session.logIn({ token: wanted, userId, renewal: null })
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
    setBusy(false)
  }
  return (
    <form className={styles.form} onSubmit={(event) => void logIn(event)}>
      <label>
        Token
        <input
          type="password"
          required
          // biome-ignore lint/a11y/noAutofocus: the only field of the page
          autoFocus={isAlone}
          autoComplete="off"
          spellCheck={false}
          aria-describedby="log-in-note"
          aria-invalid={trouble !== null}
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </label>
      <p id="log-in-note" role={trouble ? 'alert' : undefined} className={trouble ? styles.trouble : styles.hint}>
        {trouble ?? 'Your administrator creates one with “berth token create”. Only your open tabs keep it.'}
      </p>
      <Button look={isAlone ? 'primary' : 'plain'} type="submit" disabled={isBusy || token.trim() === ''}>
        {isBusy ? 'Checking…' : isAlone ? 'Log in' : 'Log in with the token'}
      </Button>
    </form>
  )
}

/** Redirects users who are logged in to the start page. */
export const LogInPage = () => <Navigate to="/" replace />
