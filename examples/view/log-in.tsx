import { type FormEvent, useState } from 'react'

const key = 'berth-token'

/** The token of this tab; empty: none. The browser forgets it with the tab. */
export const readToken = (): string => sessionStorage.getItem(key) ?? ''

/** Asks for a token, and begins the page again with it. */
export function LogIn() {
  const [token, setToken] = useState('')
  const logIn = (event: FormEvent) => {
    event.preventDefault()
    sessionStorage.setItem(key, token.trim())
    location.reload()
  }
  return (
    <form className="log-in" onSubmit={logIn}>
      <label>
        Token
        <input
          type="password"
          required
          autoComplete="off"
          value={token}
          onChange={({ target }) => setToken(target.value)}
        />
      </label>
      <button type="submit" className="primary">
        Log in
      </button>
    </form>
  )
}
