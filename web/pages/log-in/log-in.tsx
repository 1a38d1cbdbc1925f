import { createClient, RequestFailed } from '@berth-jobs/berth/client'
import { Navigate } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { baseUrl } from '../../app/connection.ts'
import { session, useSession } from '../../app/session.ts'
import { ViewerFactsDocument } from '../../generated/graphql.ts'
import { Button } from '../../parts/button.tsx'
import styles from './log-in.module.css'

/** null: the server accepts the token. */
async function checkToken(token: string): Promise<string | null> {
  const trial = createClient({ url: baseUrl, token })
  try {
    await trial.request(ViewerFactsDocument, {})
    return null
  } catch (error) {
    const isRefused = error instanceof RequestFailed && error.code === 'UNAUTHENTICATED'
    return isRefused ? 'The server does not know this token, or it has expired.' : String((error as Error).message)
  } finally {
    await trial.close()
  }
}

/** Over the page that needs it; the page and its URL stay. */
export function LogIn() {
  const { isRefused } = useSession()
  const [token, setToken] = useState('')
  const [trouble, setTrouble] = useState<string | null>(null)
  const [isBusy, setBusy] = useState(false)
  const logIn = async (event: FormEvent) => {
    event.preventDefault()
    const wanted = token.trim()
    setBusy(true)
    const found = await checkToken(wanted)
    setBusy(false)
    setTrouble(found)
    if (found === null) session.logIn(wanted)
  }
  const note =
    trouble ?? (isRefused ? 'Your token has expired or was revoked. The page goes on with another one.' : null)
  return (
    <div className={styles.page}>
      <form className={styles.card} onSubmit={(event) => void logIn(event)}>
        <h2>Log in to Berth</h2>
        <label>
          Token
          <input
            type="password"
            required
            // biome-ignore lint/a11y/noAutofocus: the only field of the page
            autoFocus
            autoComplete="off"
            spellCheck={false}
            aria-describedby="log-in-note"
            aria-invalid={trouble !== null}
            value={token}
            onChange={({ target }) => setToken(target.value)}
          />
        </label>
        <p id="log-in-note" role={note ? 'alert' : undefined} className={note ? styles.trouble : styles.hint}>
          {note ?? 'Your administrator creates one with “berth token create”. Only this tab keeps it.'}
        </p>
        <Button look="primary" type="submit" disabled={isBusy || token.trim() === ''}>
          {isBusy ? 'Checking…' : 'Log in'}
        </Button>
      </form>
    </div>
  )
}

/** Who is logged in has nothing to do here. */
export const LogInPage = () => <Navigate to="/" replace />
