import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './look/tokens.css'
import './look/base.css'
import { applyLook } from './ground/settings.ts'
import { App } from './shell/app.tsx'

applyLook()

const root = document.querySelector('#root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App />
    </StrictMode>,
  )
