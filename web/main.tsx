import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/tokens.css'
import './look/base.css'
import { App } from './app/app.tsx'
import { applyLook } from './app/settings.ts'

applyLook()

const reloadedKey = 'berth-reloaded-at'
const reloadPauseMs = 60_000

/** After an update of the server the parts of the old console are gone: the page is loaded again, once. */
window.addEventListener('vite:preloadError', () => {
  const reloadedMs = Number(sessionStorage.getItem(reloadedKey) ?? 0)
  if (Date.now() - reloadedMs < reloadPauseMs) return
  sessionStorage.setItem(reloadedKey, String(Date.now()))
  location.reload()
})

const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
